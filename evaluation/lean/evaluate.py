"""Exact values of closed terms and truth of closed propositions, as Lean's types define them (norm_num)."""

from fractions import Fraction

from evaluation.lean.errors import Budget, TacticFailed
from evaluation.lean.syntax import Expr

MOST_BITS = 4096
"""Of a number on the way; a power that would have more is refused before it is computed."""


def value(expr: Expr, budget: Budget) -> Fraction:
    """A closed term's value; `TacticFailed` where it has variables or too large a number."""
    budget.spend()
    if expr.op == "num":
        return Fraction(expr.value)
    if expr.op == "var":
        raise TacticFailed(f"{expr.name} is a variable")
    if expr.op == "pow":
        return _power(value(expr.args[0], budget), value(expr.args[1], budget))
    parts = [value(part, budget) for part in expr.args]
    match expr.op:
        case "neg":
            return -parts[0]
        case "add":
            return _fits(parts[0] + parts[1])
        case "mul":
            return _fits(parts[0] * parts[1])
        case "sub":
            # Subtraction of natural numbers stops at zero.
            return max(parts[0] - parts[1], Fraction(0)) if expr.type == "ℕ" else _fits(parts[0] - parts[1])
        case "div":
            return _quotient(parts[0], parts[1], expr.type)
        case "mod":
            return parts[0] - parts[1] * _quotient(parts[0], parts[1], expr.type)
    raise TacticFailed(f"{expr.op} has no value")


def holds(expr: Expr, budget: Budget) -> bool:
    """Whether a closed proposition is true; `TacticFailed` where it isn't closed."""
    budget.spend()
    match expr.op:
        case "true" | "false":
            return expr.op == "true"
        case "and":
            return all(holds(part, budget) for part in expr.args)
        case "or":
            return any(holds(part, budget) for part in expr.args)
        case "imp":
            return not holds(expr.args[0], budget) or holds(expr.args[1], budget)
        case "iff":
            return holds(expr.args[0], budget) == holds(expr.args[1], budget)
        case "not":
            return not holds(expr.args[0], budget)
        case "all":
            raise TacticFailed("∀ is not decided by computing")
    left, right = (value(side, budget) for side in expr.args)
    match expr.op:
        case "eq":
            return left == right
        case "ne":
            return left != right
        case "lt":
            return left < right
        case "le":
            return left <= right
        case "gt":
            return left > right
        case "ge":
            return left >= right
    return right == 0 if left == 0 else (right / left).denominator == 1


def is_closed(expr: Expr) -> bool:
    """Whether no variable occurs in it."""
    return expr.op not in ("var", "all") and all(is_closed(part) for part in expr.args)


def _quotient(left: Fraction, right: Fraction, type_: str) -> Fraction:
    """Lean's division: by zero gives zero; of whole numbers the remainder is never negative."""
    if right == 0:
        return Fraction(0)
    if type_ not in ("ℕ", "ℤ"):
        return _fits(left / right)
    floor = Fraction(left // abs(right))
    return floor if right > 0 else -floor


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(base) not in (0, 1) and bits * exponent > MOST_BITS:
        raise TacticFailed("a power is too large to compute")
    # Of 0, 1 and -1 only whether the exponent is 0, and whether it is odd, counts; it may be huge.
    small = int(exponent) if exponent <= MOST_BITS else 2 + int(exponent) % 2
    return Fraction(base**small)


def _fits(number: Fraction) -> Fraction:
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MOST_BITS:
        raise TacticFailed("a number is too large to compute")
    return number
