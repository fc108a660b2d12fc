"""Contact with curves: the gap between a curve and a point, a straight face or another curve, in compiled code.

Where bodies touch is a parameter sigma of the curve, which solves an equation F(sigma, u) = 0 of the measures u between
the bodies. It is found by Newton's method from where it was last; so a contact is a formula g(u) like others, and is
evaluated on jets as programs are: from u, u', u'' along any direction to g, g', g''. The derivative of sigma follows
from that of F. The gap's g' does not need it, for F is the derivative of the gap by sigma.
"""
