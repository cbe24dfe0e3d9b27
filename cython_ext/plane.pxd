"""One RPA example in the plane of w_t and v = Phi_t x (inline-only): problem (5) solved by alternation or at once.

In an orthonormal basis of the plane w_t = (a, 0), v = (c, d), w and u are points (Phi = Phi_t + u x^T, so Phi x = v + s u), and an
inner iteration costs O(1). Coefficients on w_t and v themselves would do as well on paper, but diverge where the two are
nearly parallel and opposed. Equations are those of Denis and Ralaivola (2017).
"""

from libc.math cimport fabs, sqrt

cdef enum:
    FIXED = 0
    COORDINATE = 1
    PRINTED = 2
    JOINT = 3
    EMBEDDING_FIRST = 4

cdef enum:
    MOST_ROOT_STEPS = 100


cdef struct Example:
    double ww, wv, vv  # inner products of w_t and v = Phi_t x
    double s           # |x|^2 of the embedded part
    double b           # o_t.x
    double so          # |x|^2 of the one-hot part
    double y           # label, 1 or -1
    double C


cdef struct Plane:
    double a, c, d         # w_t = (a, 0), v = (c, d)
    double w1, w2, u1, u2  # the iterate
    double beta


cdef struct Change:
    double p, q  # w = p w_t + q v
    double r, t  # u = r w_t + t v
    double beta  # o = o_t + beta x


cdef extern from *:
    """
    /* An inner loop has converged when the objective of (5) moves by less than this share of itself. */
    #define WK_TOLERANCE 1e-8
    /* v counts as parallel to w_t when the square of its other part is below this share of |v|^2: that is rounding. */
    #define WK_PARALLEL 1e-13
    """
    double WK_TOLERANCE
    double WK_PARALLEL



cdef inline double hinge(double m) noexcept nogil:
    return 1 - m if m < 1 else 0


cdef inline double margin(const Example* e, const Plane* g, double z1, double z2) noexcept nogil:
    """y (w.z + o.x)"""
    return e.y * (g.w1 * z1 + g.w2 * z2 + e.b + g.beta * e.so)


cdef inline void basis(const Example* e, Plane* g) noexcept nogil:
    """The plane's coordinates at the example's start."""
    cdef double rest
    if e.ww > 0:
        g.a = sqrt(e.ww)
        g.c = e.wv / g.a
        rest = e.vv - g.c * g.c
        g.d = sqrt(rest) if rest > WK_PARALLEL * e.vv else 0
    else:  # any direction will do for w_t = 0
        g.a = 0
        g.c = sqrt(e.vv)
        g.d = 0
    g.w1, g.w2, g.u1, g.u2, g.beta = g.a, 0, 0, 0, 0


cdef inline void change_of(const Plane* g, Change* out) noexcept nogil:
    """The iterate in terms of w_t and v."""
    out.p, out.q, out.r, out.t, out.beta = 1, 0, 0, 0, g.beta
    if g.d > 0:
        out.q = g.w2 / g.d
        out.t = g.u2 / g.d
    if g.a > 0:
        out.p = (g.w1 - out.q * g.c) / g.a
        out.r = (g.u1 - out.t * g.c) / g.a
    elif g.c > 0:
        out.q = g.w1 / g.c
        out.t = g.u1 / g.c


cdef inline double objective(const Example* e, const Plane* g, double lam) noexcept nogil:
    """Problem (5) at an iterate, with xi the hinge loss there."""
    cdef double loss = hinge(margin(e, g, g.c + e.s * g.u1, g.d + e.s * g.u2))
    cdef double moved = (g.w1 - g.a) * (g.w1 - g.a) + g.w2 * g.w2 + g.beta * g.beta * e.so
    return 0.5 * moved + 0.5 * lam * e.s * (g.u1 * g.u1 + g.u2 * g.u2) + e.C * loss * loss


cdef inline void move_weights(const Example* e, Plane* g, double soft) noexcept nogil:
    """Equation (11) at the iterate's w and o, with its Phi in the place of Phi_t."""
    cdef double z1 = g.c + e.s * g.u1, z2 = g.d + e.s * g.u2
    cdef double tau = e.y * hinge(margin(e, g, z1, z2)) / (z1 * z1 + z2 * z2 + e.so + soft)
    g.w1 += tau * z1
    g.w2 += tau * z2
    g.beta += tau


cdef inline void move_embedding(const Example* e, Plane* g, double soft) noexcept nogil:
    """Equation (12) at the iterate's Phi, with its w in the place of w_t; soft is lam/2C."""
    cdef double loss = hinge(margin(e, g, g.c + e.s * g.u1, g.d + e.s * g.u2))
    cdef double tau = e.y * loss / ((g.w1 * g.w1 + g.w2 * g.w2) * e.s + soft)
    g.u1 += tau * g.w1
    g.u2 += tau * g.w2


cdef inline int alternate(const Example* e, Plane* g, double lam, int update, int iterations) noexcept nogil:
    """The inner loop: w and o given Phi, Phi given w and o, until the objective rests. Returns the iterations run."""
    cdef double value, previous = -1, soft = 0.5 / e.C
    cdef int n
    for n in range(iterations):
        if update == EMBEDDING_FIRST:
            g.u1, g.u2 = 0, 0
            move_embedding(e, g, lam * soft)
        if update != PRINTED:
            g.w1, g.w2, g.beta = g.a, 0, 0
        move_weights(e, g, soft)
        if update == FIXED:
            return 1
        if update == COORDINATE:
            g.u1, g.u2 = 0, 0
        if update != EMBEDDING_FIRST:
            move_embedding(e, g, lam * soft)
        value = objective(e, g, lam)
        if fabs(value - previous) <= WK_TOLERANCE * value:
            return n + 1
        previous = value
    return iterations


cdef inline double excess_at(const Example* e, Plane* g, double lam, double tau) noexcept nogil:
    """Moves to the stationary point of (5)'s Lagrangian for a multiplier tau; returns tau / 2C - (1 - margin) there."""
    cdef double shrink = 1 - tau * tau * e.s / lam
    g.w1 = (g.a + tau * e.y * g.c) / shrink
    g.w2 = tau * e.y * g.d / shrink
    g.u1 = tau / lam * e.y * g.w1
    g.u2 = tau / lam * e.y * g.w2
    g.beta = tau * e.y
    return 0.5 * tau / e.C - 1 + margin(e, g, g.c + e.s * g.u1, g.d + e.s * g.u2)


cdef inline int joint(const Example* e, Plane* g, double lam) noexcept nogil:
    """The optimum of (5), by a root in one variable. Returns the evaluations of the margin.

    At a stationary point w = w_t + tau y Phi x, u = tau/lam y w, tau = 2 C xi: all of it is a function of tau. (5) has one
    quadratic constraint, so its optimum is where the Lagrangian's Hessian is positive: tau^2 < lam / s. There the excess
    tau / 2C - (1 - margin) rises from below to above zero, and secant steps with bisection find the root.
    """
    cdef double low = 0, high, tau, f_low, f_high, excess
    cdef int n
    if e.s <= 0:  # nothing to re-embed: the one-hot part alone
        return alternate(e, g, lam, FIXED, 1)
    high = sqrt(lam / e.s) * (1 - 1e-12)
    f_low = excess_at(e, g, lam, 0)
    f_high = excess_at(e, g, lam, high)
    if not f_high > 0:  # the degenerate end: w_t + tau y v vanishes there, and the limit is the answer
        return 2
    for n in range(MOST_ROOT_STEPS):
        tau = (low * f_high - high * f_low) / (f_high - f_low) if n % 3 else 0.5 * (low + high)
        if not low < tau < high:
            tau = 0.5 * (low + high)
        excess = excess_at(e, g, lam, tau)
        if excess < 0:
            low, f_low = tau, excess
        else:
            high, f_high = tau, excess
        if high - low <= 1e-13 * high or fabs(excess) <= 1e-13:
            break
    return n + 3


cdef inline int solve(const Example* e, Change* out, double lam, int update, int iterations) noexcept nogil:
    """What one example with loss changes; returns the inner iterations run."""
    cdef Plane g
    cdef int n
    basis(e, &g)
    n = joint(e, &g, lam) if update == JOINT else alternate(e, &g, lam, update, iterations)
    change_of(&g, out)
    return n
