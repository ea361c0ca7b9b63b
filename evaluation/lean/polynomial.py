"""Normal forms of terms: polynomials with rational coefficients over what can't be taken apart (ring)."""

from fractions import Fraction

from evaluation.lean.errors import Budget, TacticFailed
from evaluation.lean.evaluate import MOST_BITS, is_closed, value
from evaluation.lean.syntax import Expr

Monomial = tuple[tuple[str, int], ...]
"""Atoms and their exponents, sorted; empty for a number."""
Polynomial = dict[Monomial, Fraction]
"""Coefficients, none of them zero. Equal terms of a commutative ring have equal polynomials."""

MOST_TERMS = 3000
MOST_DEGREE = 64


def polynomial(expr: Expr, budget: Budget) -> Polynomial:
    """The normal form of a typed term. What a ring does not know (natural subtraction, %, whole /) is an atom."""
    budget.spend()
    match expr.op:
        case "num":
            return constant(Fraction(expr.value))
        case "var":
            return {((f"{expr.name} : {expr.type}", 1),): Fraction(1)}
        case "neg":
            return scaled(polynomial(expr.args[0], budget), Fraction(-1))
        case "add":
            return plus(polynomial(expr.args[0], budget), polynomial(expr.args[1], budget))
        case "mul":
            return times(polynomial(expr.args[0], budget), polynomial(expr.args[1], budget), budget)
        case "sub" if expr.type != "ℕ":
            return plus(polynomial(expr.args[0], budget), scaled(polynomial(expr.args[1], budget), Fraction(-1)))
        case "div" if expr.type in ("ℚ", "ℝ"):
            return times(polynomial(expr.args[0], budget), _inverse(expr.args[1], budget), budget)
        case "pow" if is_closed(expr.args[1]):
            return _power(polynomial(expr.args[0], budget), value(expr.args[1], budget), budget)
    return _atom(expr, budget)


def constant(number: Fraction) -> Polynomial:
    """A number as a polynomial."""
    return {(): number} if number else {}


def plus(one: Polynomial, other: Polynomial) -> Polynomial:
    """The sum."""
    total = dict(one)
    for monomial, coefficient in other.items():
        total[monomial] = total.get(monomial, Fraction(0)) + coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def scaled(one: Polynomial, factor: Fraction) -> Polynomial:
    """A multiple."""
    return {monomial: coefficient * factor for monomial, coefficient in one.items()} if factor else {}


def times(one: Polynomial, other: Polynomial, budget: Budget) -> Polynomial:
    """The product; `TacticFailed` where it has too many terms or too large numbers."""
    budget.spend(len(one) * len(other))
    total: Polynomial = {}
    for left, a in one.items():
        for right, b in other.items():
            monomial = _product(left, right)
            total[monomial] = total.get(monomial, Fraction(0)) + a * b
    found = {monomial: coefficient for monomial, coefficient in total.items() if coefficient}
    if len(found) > MOST_TERMS:
        raise TacticFailed("a product has too many terms")
    if any(coefficient.numerator.bit_length() > MOST_BITS for coefficient in found.values()):
        raise TacticFailed("a number is too large to compute")
    return found


def _product(left: Monomial, right: Monomial) -> Monomial:
    if not left or not right:
        return left or right
    powers = dict(left)
    for atom, exponent in right:
        powers[atom] = powers.get(atom, 0) + exponent
    return tuple(sorted(powers.items()))


def _power(base: Polynomial, exponent: Fraction, budget: Budget) -> Polynomial:
    if list(base) in ([], [()]) and base.get((), Fraction(0)) in (-1, 0, 1):
        number = base.get((), Fraction(0))
        return constant(Fraction(1) if exponent == 0 else number ** int(2 - exponent % 2))
    if exponent > (MOST_BITS if len(base) == 1 and () in base else MOST_DEGREE):
        raise TacticFailed("a power is too large to compute")
    result = constant(Fraction(1))
    for _ in range(int(exponent)):
        result = times(result, base, budget)
    return result


def _inverse(expr: Expr, budget: Budget) -> Polynomial:
    """One over a term: a number where it is one (over zero: zero), else an atom by the term's normal form."""
    below = polynomial(expr, budget)
    if list(below) in ([], [()]):
        number = below.get((), Fraction(0))
        return constant(1 / number) if number else {}
    return {((f"1/({shown(below)}) : {expr.type}", 1),): Fraction(1)}


def _atom(expr: Expr, budget: Budget) -> Polynomial:
    """A term that a ring can't take apart, named by the normal forms of its parts."""
    parts = ", ".join(shown(polynomial(part, budget)) for part in expr.args)
    return {((f"{expr.op}({parts}) : {expr.type}", 1),): Fraction(1)}


def shown(one: Polynomial) -> str:
    """A name that equal polynomials share."""
    return " + ".join(f"{coefficient}*{monomial}" for monomial, coefficient in sorted(one.items())) or "0"
