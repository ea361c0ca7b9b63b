"""Contradictions among linear constraints over an ordered field, by Fourier-Motzkin elimination (linarith)."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from evaluation.lean.errors import Budget
from evaluation.lean.polynomial import Monomial, Polynomial


@dataclass(frozen=True)
class Constraint:
    """`sum of coefficient * unknown, plus constant` is zero, at least zero, or more than zero."""

    weights: tuple[tuple[Monomial, Fraction], ...]
    constant: Fraction
    relation: str
    """`=`, `≥` or `>`."""

    @property
    def absurd(self) -> bool:
        """It has no unknown and is false."""
        if self.weights:
            return False
        match self.relation:
            case "=":
                return self.constant != 0
            case "≥":
                return self.constant < 0
        return self.constant <= 0


def constraint(difference: Polynomial, relation: str, *, whole: bool) -> Constraint:
    """A polynomial held against zero; each monomial is an unknown. Over whole numbers more than 0 is at least 1."""
    weights = tuple(sorted((monomial, factor) for monomial, factor in difference.items() if monomial))
    constant = difference.get((), Fraction(0))
    if whole and relation == ">":
        size = Fraction(lcm(*(factor.denominator for _, factor in weights), constant.denominator))
        weights = tuple((monomial, factor * size) for monomial, factor in weights)
        return _scaled(Constraint(weights, constant * size - 1, "≥"))
    return _scaled(Constraint(weights, constant, relation))


def contradictory(constraints: Iterable[Constraint], budget: Budget) -> bool:
    """Whether no rational numbers satisfy them all."""
    left = set(constraints)
    while True:
        if any(one.absurd for one in left):
            return True
        left = {one for one in left if one.weights}
        if not left:
            return False
        budget.spend(sum(len(one.weights) for one in left))
        equation = min((one for one in left if one.relation == "="), key=_order, default=None)
        left = _solved(left, equation) if equation else _eliminated(left, budget)


def _order(one: Constraint) -> tuple[int, str]:
    return len(one.weights), repr(one)


def _solved(left: set[Constraint], equation: Constraint) -> set[Constraint]:
    """The other constraints with the equation's first unknown replaced."""
    unknown, factor = equation.weights[0]
    made = set()
    for one in left - {equation}:
        weight = dict(one.weights).get(unknown)
        made.add(one if weight is None else _sum(one, Fraction(1), equation, -weight / factor, one.relation))
    return made


def _eliminated(left: set[Constraint], budget: Budget) -> set[Constraint]:
    """The constraints without one unknown: each that bounds it below, with each that bounds it above."""
    below: dict[Monomial, list[Constraint]] = {}
    above: dict[Monomial, list[Constraint]] = {}
    for one in left:
        for unknown, factor in one.weights:
            (below if factor > 0 else above).setdefault(unknown, []).append(one)
    unknowns = {*below, *above}
    unknown = min(unknowns, key=lambda name: (len(below.get(name, [])) * len(above.get(name, [])), repr(name)))
    lows, highs = below.get(unknown, []), above.get(unknown, [])
    budget.spend(sum(len(one.weights) + len(other.weights) for one in lows for other in highs))
    made = left.difference(lows, highs)
    for one in lows:
        for other in highs:
            relation = ">" if ">" in (one.relation, other.relation) else "≥"
            made.add(_sum(one, -dict(other.weights)[unknown], other, dict(one.weights)[unknown], relation))
    return made


def _sum(one: Constraint, factor: Fraction, other: Constraint, by: Fraction, relation: str) -> Constraint:
    weights = {unknown: factor * weight for unknown, weight in one.weights}
    for unknown, weight in other.weights:
        weights[unknown] = weights.get(unknown, Fraction(0)) + by * weight
    kept = tuple(sorted((unknown, weight) for unknown, weight in weights.items() if weight))
    return _scaled(Constraint(kept, factor * one.constant + by * other.constant, relation))


def _scaled(one: Constraint) -> Constraint:
    """The same constraint with small whole coefficients, so that equal ones are found to be equal."""
    if not one.weights:
        return one
    size = lcm(*(factor.denominator for _, factor in one.weights))
    common = gcd(*(int(factor * size) for _, factor in one.weights))
    by = Fraction(size, common)
    return Constraint(tuple((unknown, factor * by) for unknown, factor in one.weights), one.constant * by, one.relation)
