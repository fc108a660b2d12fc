"""A step on y' = f(t, y), written out: stages of Runge-Kutta methods, slopes of Adams methods, Newton's iteration.

The formulas are those of the method's own table, so that what is shown is what runs; a test compares the ends of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ...errors import UnsupportedError, listed
from ...integrators.adams import Adams
from ...integrators.bdf import BDF
from ...integrators.implicit_runge_kutta import ImplicitRungeKutta, ImplicitTableau, RadauIIA
from ...integrators.runge_kutta import RungeKutta, Tableau
from ...methods import Integrator
from ...numerics.arrays import Floats
from .explanation import Equation, Explanation, Line
from .iteration import IterationNames, Solved, derivative, newton, norm

Slope = Callable[[float, Floats], Floats]


class Start(NamedTuple):
    """Where a step begins: the states before it come last."""

    f: Slope
    t: float
    h: float
    y: Floats
    past: Sequence[Floats]  # y before this one, the latest first
    names: tuple[str, ...]
    guess: Floats | None = None  # where Newton's iteration begins
    rtol: float = 1e-6


def explain_ode_step(method: Integrator, at: Start) -> Explanation:
    """By the kind of method; until enough steps are known, multistep methods are started by another one."""
    if isinstance(method, Adams):
        return (
            adams_step(method, at) if len(at.past) >= method.k - 1 else _started(method, method.starter, at)
        )
    if isinstance(method, BDF):
        return implicit_step(method, at) if len(at.past) >= method.k - 1 else _started(method, RadauIIA(), at)
    if isinstance(method, RungeKutta):
        return explicit_step(method, at)
    if isinstance(method, ImplicitRungeKutta):
        return implicit_step(method, at)
    known = [
        name
        for name, cls in Integrator.registry.items()
        if issubclass(cls, RungeKutta | ImplicitRungeKutta | Adams | BDF)
    ]
    raise UnsupportedError(
        f"the integrator '{method.name}' does not show its steps: they are SciPy's, or depend on many before them. "
        f"Take one of {listed(sorted(known), 40)}."
    )


def _started(method: Integrator, starter: Integrator, at: Start) -> Explanation:
    step = explain_ode_step(starter, at)
    note = f"{method.name} looks back over more steps than there are so far; {starter.name} takes the first ones."
    return replace(step, notes=(note,))


def _title(method: Integrator, at: Start) -> str:
    return f"one step of {method.name}, t = {at.t:g} to {at.t + at.h:g} s"


def _explanation(
    method: Integrator, at: Start, equations: Sequence[Equation], lines: Sequence[Line], y1: Floats
) -> Explanation:
    of = dict.fromkeys(
        ("y", "Y", "K", "y1", "y predicted", "f predicted", "error", "correction", "residual"), at.names
    )
    return Explanation(_title(method, at), tuple(equations), tuple(lines), {"y1": y1}, of, {})


# Explicit methods -------------------------------------------------------------------------------------


def explicit_step(method: RungeKutta, at: Start) -> Explanation:
    T, K, lines = method.tableau, list[Floats](), list[Line]()
    for i in range(T.stages):
        Y = at.y + at.h * sum((T.A[i, j] * K[j] for j in range(i)), np.zeros_like(at.y))
        K.append(at.f(at.t + T.C[i] * at.h, Y))
        lines.append(Line(f"stage {i + 1}", {"t": at.t + T.C[i] * at.h, "Y": Y, "K": K[i]}))
    y1 = at.y + at.h * sum((T.A[T.stages, j] * K[j] for j in range(T.stages)), np.zeros_like(at.y))
    if T.order:
        K.append(at.f(at.t + at.h, y1))
        error = at.h * sum((T.E[0, j] * K[j] for j in range(T.E.shape[1])), np.zeros_like(at.y))
        lines.append(Line("error estimate", {"norm": norm(error), "error": error}))
    return _explanation(method, at, [*_tableau_in_words(T)], lines, y1)


def _tableau_in_words(T: Tableau) -> Sequence[Equation]:
    stages = [
        _sum([(f"K{j + 1}", rf"K_{{{j + 1}}}", T.A[i, j]) for j in range(i)]) for i in range(T.stages + 1)
    ]
    equations = []
    for i, (text, latex) in enumerate(stages[:-1]):
        y, y_latex = (f"y + {_step(text)}", f"y + {_step_latex(latex)}") if text else ("y", "y")
        c = _after(T.C[i])
        equations.append(
            Equation(f"K{i + 1} = f(t{c}, {y})", rf"K_{{{i + 1}}} = f\left(t{c}, {y_latex}\right)")
        )
    text, latex = stages[-1]
    return [*equations, Equation(f"y1 = y + {_step(text)}", f"y_1 = y + {_step_latex(latex)}")]


def _sum(parts: Sequence[tuple[str, str, float]]) -> tuple[str, str]:
    """A weighted sum as text and as LaTeX, without what has no weight."""
    text, latex = "", ""
    for name, letter, weight in parts:
        if weight != 0.0:
            sign = ("-" if weight < 0 else "") if not text else (" - " if weight < 0 else " + ")
            size = "" if abs(weight) == 1.0 else _fraction(abs(weight)) + " "
            text, latex = text + sign + size + name, latex + sign + size + letter
    return text, latex


def _step(slopes: str) -> str:
    """h times a sum of slopes; one alone needs no parentheses."""
    return f"h ({slopes})" if " " in slopes else f"h {slopes}"


def _step_latex(slopes: str) -> str:
    return rf"h\left({slopes}\right)" if " " in slopes else f"h {slopes}"


def _after(share: float) -> str:
    """+ h, + 1/2 h: how long after the beginning of the step."""
    size = "" if share == 1.0 else f"{_fraction(share)} "
    return f" + {size}h" if share else ""


def _fraction(value: float) -> str:
    """1/6 rather than 0.1667, where that is exact."""
    from fractions import Fraction

    fraction = Fraction(value).limit_denominator(3_000)
    return (
        str(fraction)
        if abs(float(fraction) - value) < 1e-14 and fraction.numerator < 10_000
        else f"{value:.6g}"
    )


def adams_step(method: Adams, at: Start) -> Explanation:
    """Predict, evaluate, correct."""
    times = [at.t - k * at.h for k in range(method.k)]
    slopes = [at.f(t, y) for t, y in zip(times, [at.y, *at.past], strict=False)]
    lines = [
        Line(f"slope f_n-{k}" if k else "slope f_n", {"t": times[k], "K": slope})
        for k, slope in enumerate(slopes)
    ]
    predicted = at.y + at.h * sum(
        (b * f for b, f in zip(method.bashforth, slopes, strict=True)), np.zeros_like(at.y)
    )
    weights = [
        (f"f_n-{k}" if k else "f_n", rf"f_{{n-{k}}}" if k else "f_n", b)
        for k, b in enumerate(method.bashforth)
    ]
    text, latex = _sum(weights)
    equations = [Equation(f"y* = y + {_step(text)}", f"y^* = y + {_step_latex(latex)}")]
    if method.moulton.size == 0:
        return _explanation(method, at, equations, lines, predicted)
    text, latex = _sum(
        [
            ("f*", "f^*", method.moulton[0]),
            *((a, b, m) for (a, b, _), m in zip(weights, method.moulton[1:], strict=False)),
        ]
    )
    equations.append(
        Equation(
            f"y1 = y + {_step(text)},   f* = f(t1, y*)",
            rf"y_1 = y + {_step_latex(latex)}, \quad f^* = f(t_1, y^*)",
        )
    )
    y1 = predicted
    for correction in range(method.most_corrections):
        slope, before = at.f(at.t + at.h, y1), y1
        name = "prediction" if correction == 0 else f"evaluation {correction + 1}"
        lines.append(Line(name, {"t": at.t + at.h, "y predicted": y1, "f predicted": slope}))
        known = [slope, *slopes[: method.moulton.size - 1]]
        parts = (m * f for m, f in zip(method.moulton, known, strict=True))
        y1 = at.y + at.h * sum(parts, np.zeros_like(at.y))
        number = f" {correction + 1}" if method.most_corrections > 1 else ""
        lines.append(
            Line(f"correction{number}", {"|correction|": norm(y1 - before), "correction": y1 - before})
        )
    return _explanation(method, at, equations, lines, y1)


# Implicit methods -------------------------------------------------------------------------------------


def implicit_step(method: ImplicitRungeKutta | BDF, at: Start) -> Explanation:
    """Newton's iteration for the stages, block after block."""
    T, n = method.tableau, at.y.size
    base = sum((w * y for w, y in zip(T.base, [at.y, *at.past], strict=False)), np.zeros(n))
    K, lines, Y = np.zeros((T.b.size, n)), list[Line](), np.zeros((T.b.size, n))
    first = 0
    if T.A[0, 0] == 0.0:
        first, Y[0], K[0] = 1, at.y, at.f(at.t, at.y)
        lines.append(Line("stage 1", {"t": at.t, "Y": at.y, "K": K[0]}))
    for block in range(first, T.blocks.size - 1):
        stages = range(int(T.blocks[block]), int(T.blocks[block + 1]))
        solved = _solve_block(method, T, at, base, K, stages)
        several = T.blocks.size - 1 - first > 1
        head = f"stage {stages[0] + 1}, " if several else ""
        lines += [Line(head + line.name, line.values) for line in solved.lines]
        for k, i in enumerate(stages):
            Y[i] = solved.x[k * n : (k + 1) * n]
            K[i] = at.f(at.t + T.C[i] * at.h, Y[i])
    y1 = base + at.h * (T.b @ K)
    explained = _explanation(method, at, _implicit_in_words(T), lines, y1)
    together = _stage_names(at.names, int(np.diff(T.blocks).max()))
    names = {**explained.names, **dict.fromkeys(("Y", "residual", "correction", "Jacobian"), together)}
    return replace(explained, names=names, columns={"Jacobian": together})


def _solve_block(
    method: Integrator, T: ImplicitTableau, at: Start, base: Floats, K: Floats, stages: range
) -> Solved:
    """r_i = Y_i - base - h sum_j a_ij f(t + c_j h, Y_j) = 0, and its matrix 1 - h a_ij df/dy at Y_j."""
    s, n, A = len(stages), at.y.size, T.A[np.ix_(stages, stages)]
    known = base + at.h * T.A[stages.start : stages.stop, : stages.start] @ K[: stages.start]
    times = at.t + at.h * T.C[stages.start : stages.stop]

    def residual(x: Floats) -> Floats:
        Y = x.reshape(s, n)
        F = np.array([at.f(t, y) for t, y in zip(times, Y, strict=True)])
        return np.asarray(Y - known - at.h * A @ F).reshape(-1)

    def jacobian(x: Floats) -> Floats:
        J = [derivative(partial(at.f, t), y) for t, y in zip(times, x.reshape(s, n), strict=True)]
        return np.asarray(
            np.eye(s * n) - at.h * np.block([[a * j for a, j in zip(row, J, strict=True)] for row in A])
        )

    guess = np.tile(at.y if at.guess is None else at.guess, s)
    keep = getattr(method, "newton", "exact") == "modified"
    what = f"the step of {method.name}"
    return newton(residual, jacobian, guess, IterationNames("Y", "residual"), keep=keep, what=what)


def _stage_names(names: tuple[str, ...], stages: int) -> tuple[str, ...]:
    return names if stages == 1 else tuple(f"{name} ({i + 1})" for i in range(stages) for name in names)


def _implicit_in_words(T: ImplicitTableau) -> Sequence[Equation]:
    base, base_latex = _sum(
        [(f"y_n-{k}" if k else "y", rf"y_{{n-{k}}}" if k else "y", w) for k, w in enumerate(T.base)]
    )
    equations = []
    for i in range(T.b.size):
        text, latex = _sum([(f"K{j + 1}", rf"K_{{{j + 1}}}", T.A[i, j]) for j in range(T.b.size)])
        right = f"{base} + {_step(text)}" if text else base
        right_latex = f"{base_latex} + {_step_latex(latex)}" if text else base_latex
        c = _after(T.C[i])
        equations.append(
            Equation(
                f"Y{i + 1} = {right},   K{i + 1} = f(t{c}, Y{i + 1})",
                rf"Y_{{{i + 1}}} = {right_latex}, \quad K_{{{i + 1}}} = f(t{c}, Y_{{{i + 1}}})",
            )
        )
    text, latex = _sum([(f"K{j + 1}", rf"K_{{{j + 1}}}", b) for j, b in enumerate(T.b)])
    newton_words = Equation(
        "(1 - h a_ij df/dy) dY = -residual",
        r"\left(I - h\,a_{ij}\,\frac{\partial f}{\partial y}\right)\Delta Y = -r",
    )
    return [
        *equations,
        Equation(f"y1 = {base} + {_step(text)}", f"y_1 = {base_latex} + {_step_latex(latex)}"),
        newton_words,
    ]
