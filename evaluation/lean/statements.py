"""Whether two theorems state the same: equal up to names, order, and ways of writing that change nothing."""

from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.lean.elaborate import TERMS
from evaluation.lean.script import Statement
from evaluation.lean.syntax import Expr

Form = tuple[object, ...]
"""A nested tuple of strings; equal for expressions that are written alike."""


@dataclass(frozen=True)
class _Canonical:
    variables: tuple[tuple[str, str], ...]
    hypotheses: tuple[str, ...]
    goal: str


def same_statement(one: Statement, other: Statement) -> bool:
    """Whether two elaborated statements are one.

    Free are: names, where the order of variables then decides; the order of hypotheses, of sums, products, equations,
    conjunctions and disjunctions; > for <; a hypothesis for the left of an implication. Nothing is computed. Where the
    freedom would make a claim out of nothing (a + b = b + a is not a + b = a + b), it is taken away.
    """
    one, other = _spread(one), _spread(other)
    names = _renaming(one, other)
    if names is None:
        return False
    free, given = _canonical(one, names, True), _canonical(other, {}, True)
    if _idle(free) or _idle(given):
        return _canonical(one, names, False) == _canonical(other, {}, False)
    return free == given


def _spread(statement: Statement) -> Statement:
    """Variables of ∀, left sides of implications and parts of conjunctions as hypotheses of their own."""
    variables, hypotheses, goal = list(statement.variables), list(statement.hypotheses), statement.goal
    while True:
        taken = {name for name, _ in variables}
        if goal.op == "all" and goal.name not in taken:
            variables.append((goal.name, goal.type))
            goal = goal.args[0]
        elif goal.op == "imp":
            hypotheses.append(("", goal.args[0]))
            goal = goal.args[1]
        else:
            break
    parts = tuple(("", part) for _, claim in hypotheses for part in _parts("and", claim))
    return Statement(statement.name, tuple(variables), parts, goal)


def _parts(op: str, expr: Expr) -> list[Expr]:
    if expr.op != op:
        return [expr]
    return [part for arg in expr.args for part in _parts(op, arg)]


def _renaming(one: Statement, other: Statement) -> dict[str, str] | None:
    """From the first's variables to the second's: themselves where both have the same, else in order."""
    if sorted(one.variables) == sorted(other.variables):
        return {}
    if [type_ for _, type_ in one.variables] != [type_ for _, type_ in other.variables]:
        return None
    return {mine: its for (mine, _), (its, _) in zip(one.variables, other.variables, strict=True)}


def _canonical(statement: Statement, names: Mapping[str, str], free: bool) -> _Canonical:
    variables = tuple(sorted((names.get(name, name), type_) for name, type_ in statement.variables))
    hypotheses = [repr(_form(claim, names, free)) for _, claim in statement.hypotheses]
    return _Canonical(variables, tuple(sorted(set(hypotheses))), repr(_form(statement.goal, names, free)))


def _idle(one: _Canonical) -> bool:
    """The freedom has eaten the claim: it is among its hypotheses, or something in it equals itself."""
    return one.goal in one.hypotheses or any("'itself'" in text for text in (one.goal, *one.hypotheses))


def _form(expr: Expr, names: Mapping[str, str], free: bool) -> Form:
    if expr.op in TERMS:
        return _term(expr, names, free)
    args = [_form(part, names, free) for part in expr.args]
    match expr.op:
        case "gt" | "ge":
            return _relation("lt" if expr.op == "gt" else "le", args[::-1], free)
        case "lt" | "le" | "dvd":
            return _relation(expr.op, args, free)
        case "ne":
            return ("not", _relation("eq", sorted(args, key=repr) if free else args, free))
        case "eq" | "iff":
            return _relation(expr.op, sorted(args, key=repr) if free else args, free)
        case "and" | "or" if free:
            return (expr.op, *sorted((_form(part, names, free) for part in _parts(expr.op, expr)), key=repr))
        case "all":
            depth = sum(name.startswith("∀") for name in names.values())
            inner = {**names, expr.name: f"∀{depth}"}
            return ("all", expr.type, _form(expr.args[0], inner, free))
    return (expr.op, *args)


def _relation(op: str, sides: list[Form], free: bool) -> Form:
    """A relation between sides; marked where freedom has made them the same."""
    return (op, "itself", *sides) if free and sides[0] == sides[1] else (op, *sides)


def _term(expr: Expr, names: Mapping[str, str], free: bool) -> Form:
    if expr.op == "num":
        return ("num", str(expr.value), expr.type)
    if expr.op == "var":
        return ("var", names.get(expr.name, expr.name), expr.type)
    if free and expr.op in ("add", "mul"):
        return (expr.op, *sorted((_term(part, names, free) for part in _parts(expr.op, expr)), key=repr))
    return (expr.op, *(_term(part, names, free) for part in expr.args))
