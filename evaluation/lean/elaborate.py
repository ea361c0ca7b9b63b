"""Types for every term of a statement, as Lean would find them; a statement whose types do not fit is refused.

The two sides of a relation have one type: that of their variables and ascriptions, else ℕ. There are no coercions.
"""

from collections.abc import Iterator, Mapping

from evaluation.lean.errors import TypesClash
from evaluation.lean.script import Statement
from evaluation.lean.syntax import Expr

RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge", "dvd")
CONNECTIVES = ("and", "or", "imp", "iff", "not")
TERMS = ("num", "var", "neg", "add", "sub", "mul", "div", "mod", "pow", "as")
WHOLE = ("ℕ", "ℤ")
_WORDS = {"eq": "=", "ne": "≠", "lt": "<", "le": "≤", "gt": ">", "ge": "≥", "dvd": "∣"}

Variables = Mapping[str, str]
"""Types by name."""


def elaborate(statement: Statement) -> Statement:
    """The statement with a type at each term; `TypesClash` where that can't be."""
    variables: dict[str, str] = dict(statement.variables)
    hypotheses = tuple((name, proposition(claim, variables)) for name, claim in statement.hypotheses)
    return Statement(statement.name, statement.variables, hypotheses, proposition(statement.goal, variables))


def proposition(expr: Expr, variables: Variables) -> Expr:
    """A proposition with types."""
    if expr.op in ("true", "false"):
        return expr
    if expr.op == "all":
        body = proposition(expr.args[0], {**variables, expr.name: expr.type})
        return Expr("all", (body,), name=expr.name, type=expr.type)
    if expr.op in CONNECTIVES:
        return Expr(expr.op, tuple(proposition(part, variables) for part in expr.args))
    if expr.op in RELATIONS:
        return _relation(expr, variables)
    raise TypesClash("a term stands where a proposition belongs")


def term(expr: Expr, variables: Variables, type_: str = "") -> Expr:
    """A term by itself, of the type given where nothing else decides."""
    return _typed(expr, variables, _type_of((expr,), variables) or type_ or "ℕ")


def _relation(expr: Expr, variables: Variables) -> Expr:
    type_ = _type_of(expr.args, variables) or "ℕ"
    if expr.op == "dvd" and type_ not in WHOLE:
        raise TypesClash(f"∣ is asked of whole numbers, not of {type_}")
    return Expr(expr.op, tuple(_typed(side, variables, type_) for side in expr.args))


def _type_of(sides: tuple[Expr, ...], variables: Variables) -> str:
    """The one type that variables and ascriptions give; empty where there are none."""
    found = {type_ for side in sides for type_ in _types(side, variables)}
    if len(found) > 1:
        raise TypesClash(f"{' and '.join(sorted(found))} stand in one relation")
    return next(iter(found), "")


def _types(expr: Expr, variables: Variables) -> Iterator[str]:
    if expr.op == "as":
        yield expr.type
    elif expr.op == "var":
        if expr.name not in variables:
            raise TypesClash(f"{expr.name!r} is not known")
        yield variables[expr.name]
    elif expr.op == "pow":
        # An exponent has a type of its own.
        yield from _types(expr.args[0], variables)
    else:
        for part in expr.args:
            yield from _types(part, variables)


def _typed(expr: Expr, variables: Variables, type_: str) -> Expr:
    match expr.op:
        case "as":
            return _typed(expr.args[0], variables, type_)
        case "num":
            return Expr("num", value=expr.value, type=type_)
        case "var":
            return Expr("var", name=expr.name, type=type_)
        case "pow":
            if (_type_of((expr.args[1],), variables) or "ℕ") != "ℕ":
                raise TypesClash("an exponent is a natural number")
            base, exponent = _typed(expr.args[0], variables, type_), _typed(expr.args[1], variables, "ℕ")
            return Expr("pow", (base, exponent), type=type_)
        case "neg" if type_ == "ℕ":
            raise TypesClash("a natural number has no negative")
        case "mod" if type_ not in WHOLE:
            raise TypesClash(f"% is asked of whole numbers, not of {type_}")
        case "neg" | "add" | "sub" | "mul" | "div" | "mod":
            return Expr(expr.op, tuple(_typed(part, variables, type_) for part in expr.args), type=type_)
    raise TypesClash(f"a proposition ({_WORDS.get(expr.op, expr.op)}) stands where a term belongs")


def substituted(expr: Expr, name: str, by: Expr) -> Expr:
    """The expression with a term in a variable's place."""
    if expr.op == "var":
        return by if expr.name == name else expr
    if expr.op == "all" and expr.name == name:
        return expr
    args = tuple(substituted(part, name, by) for part in expr.args)
    return Expr(expr.op, args, expr.value, expr.name, expr.type)


def unfolded(expr: Expr) -> Expr:
    """The proposition as Lean's definitions read it: a > b is b < a, ≠ and ¬ are implications of false."""
    args = tuple(unfolded(part) if part.op not in TERMS else part for part in expr.args)
    match expr.op:
        case "gt":
            return Expr("lt", (args[1], args[0]))
        case "ge":
            return Expr("le", (args[1], args[0]))
        case "ne":
            return Expr("imp", (Expr("eq", args), Expr("false")))
        case "not":
            return Expr("imp", (args[0], Expr("false")))
    return Expr(expr.op, args, expr.value, expr.name, expr.type)
