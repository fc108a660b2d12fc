"""Cosines and sines of many angles at once.

The rotations of its bodies are what functions of the C library cost most in a mechanism. Polynomials without
branches let the processor compute four or eight of them together. Errors are below 2e-16, less than those of an angle
that is a sum of other angles.
"""

from __future__ import annotations

from math import pi

import numpy as np

from .arrays import Floats
from .kernel import JIT, kernel
from .lanes import cos_and_sin, everywhere, floored

TOGETHER = 8  # angles of one go: arrays are padded to a multiple
FEW = 2  # angles that the library does sooner

# pi / 2 in two parts. A multiple of the first is exact, and so is what is left of an angle
QUARTER, REST = 1.5707963267341256, 6.077100506506192e-11
FAR = 3e4  # radians, from where on the library does it

# sin x = x + x^3 (S1 + x^2 (S2 + ...)), cos x = 1 - x^2 / 2 + x^4 (C1 + x^2 (C2 + ...)) up to pi / 4: the minimax
# coefficients of the C library fdlibm
S1, S2, S3 = -0.16666666666666632, 0.00833333333332249, -0.0001984126982985795
S4, S5, S6 = 2.7557313707070068e-06, -2.5050760253406863e-08, 1.58969099521155e-10
C1, C2, C3 = 0.0416666666666666, -0.001388888888887411, 2.480158728947673e-05
C4, C5, C6 = -2.7557314351390663e-07, 2.087572321298175e-09, -1.1359647557788195e-11


def padded(n: int) -> Floats:
    """Room for n angles."""
    return np.zeros(-(-n // TOGETHER) * TOGETHER)


@kernel(inline=True)
def rotate(angles, c, s, n, largest):
    """c and s are cos and sin of the first n angles, of which `largest` is the largest in size, or nan."""
    if n <= FEW or not everywhere(largest < FAR) or not JIT:
        for k in range(n):
            c[k], s[k] = cos_and_sin(angles[k])
        return
    for k in range(angles.size):
        # quarter turns, and a rest x between -pi / 4 and pi / 4
        quarters = floored(angles[k] * (2.0 / pi) + 0.5)
        x = (angles[k] - quarters * QUARTER) - quarters * REST
        # sums of short chains
        z = x * x
        w = z * z
        low, middle, high = S1 + z * S2, S3 + z * S4, S5 + z * S6
        sine = x + x * z * (low + w * (middle + w * high))
        low, middle, high = C1 + z * C2, C3 + z * C4, C5 + z * C6
        cosine = (1.0 - 0.5 * z) + w * (low + w * (middle + w * high))
        # back by the quarter turns: what is odd exchanges the two, half a turn changes both signs
        halves = floored(0.5 * quarters)
        odd = quarters - 2.0 * halves
        even, sign = 1.0 - odd, 1.0 - 2.0 * (halves - 2.0 * floored(0.5 * halves))
        c[k], s[k] = sign * (even * cosine - odd * sine), sign * (even * sine + odd * cosine)
