"""The maps of panels, by collocation of v''_i = a_i v_i + b_i v'_i + c_i at their nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats
from ...numerics.kernel import kernel
from .panels import AT_END, AT_NODES, NODES, STAGES, TWICE_AT_END, TWICE_AT_NODES
from .variational import ReducedEquations


class Panel(NamedTuple):
    """Maps of panels: (v, v') at the end, and v'' at the nodes, from v, v' at the start and the parameters."""

    end: Floats
    nodes: Floats


@kernel(entry=True)
def march(ends, first, last, state, moved, begins):
    """Take (v, v') of all parameters from panel to panel: state = S state + s, with (S, s) of each panel in `ends`."""
    size, parameters = state.shape
    for k in range(first, last):
        for i in range(size):
            for p in range(parameters):
                begins[k, i, p], moved[i, p] = state[i, p], ends[k, i, size + p]
            for j in range(size):
                for p in range(parameters):
                    moved[i, p] += ends[k, i, j] * state[j, p]
        for i in range(size):
            for p in range(parameters):
                state[i, p] = moved[i, p]


def panel_maps(reduced: ReducedEquations, lengths: Floats) -> Panel:
    """The linear map of each panel, by collocation."""
    count, f, P = lengths.size, reduced.by_v.shape[1], reduced.source.shape[2]
    a, b, c = (part.reshape(count, STAGES, f, part.shape[2]) for part in reduced)
    h = lengths[:, None, None, None]
    # v''_i - a_i h^2 sum_j C_j(x_i) v''_j - b_i h sum_j B_j(x_i) v''_j = a_i (v_0 + h x_i v'_0) + b_i v'_0 + c_i
    x, h2 = NODES[:, None, None], h[..., None]
    A, AA = AT_NODES[:, None, :, None], TWICE_AT_NODES[:, None, :, None]
    matrix = -(h2**2 * (AA * a[:, :, :, None]) + h2 * (A * b[:, :, :, None]))
    matrix = matrix.reshape(count, STAGES * f, STAGES * f) + np.eye(STAGES * f)
    right = np.concatenate([a, h * x * a + b, c], axis=3).reshape(count, STAGES * f, 2 * f + P)
    nodes = np.linalg.solve(matrix, right)
    # v and v' at the end
    parts, h = nodes.reshape(count, STAGES, f * (2 * f + P)), lengths[:, None, None]
    end = np.empty((count, 2 * f, 2 * f + P))
    end[:, :f] = h**2 * (TWICE_AT_END @ parts).reshape(count, f, 2 * f + P)
    end[:, f:] = h * (AT_END @ parts).reshape(count, f, 2 * f + P)
    end[:, : 2 * f, : 2 * f] += np.eye(2 * f)
    end[:, :f, f : 2 * f] += h * np.eye(f)
    return Panel(end, nodes)
