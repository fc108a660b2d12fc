"""Contact with curves: the gap between a curve and a point, a straight face or another curve, in compiled code.

The contact point is a parameter sigma of the curve, which solves an equation F(sigma, u) = 0 of the measures u between
the bodies. Newton's method finds it from its last value; so a contact is a formula g(u) like others, evaluated from
u, u', u'' along any direction to g, g', g''. The derivative of sigma follows from that of F. The gap's g' does not need
it, since F is the derivative of the gap with respect to sigma.
"""
