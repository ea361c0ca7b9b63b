"""The decision procedures agree with brute force: on values of terms, normal forms and linear contradictions."""

import random
from fractions import Fraction
from itertools import product

import pytest

from evaluation.lean.elaborate import substituted, term
from evaluation.lean.errors import Budget, TacticFailed
from evaluation.lean.evaluate import value
from evaluation.lean.linear import Constraint, contradictory
from evaluation.lean.polynomial import Monomial, polynomial
from evaluation.lean.syntax import Expr, Reader, words


def _read(text: str, type_: str) -> Expr:
    return term(Reader(words(text)).term(), dict.fromkeys("xy", type_), type_)


def _random_term(draw: random.Random, depth: int) -> str:
    if depth == 0:
        return draw.choice(["x", "y", str(draw.randrange(4))])
    one, other = _random_term(draw, depth - 1), _random_term(draw, depth - 1)
    return draw.choice([f"({one} + {other})", f"({one} - {other})", f"{one} * {other}", f"({one}) ^ 2", f"(-{one})"])


def _at(expr: Expr, x: int, y: int) -> Fraction:
    for name, number in (("x", x), ("y", y)):
        expr = substituted(expr, name, _read(f"({number})" if number >= 0 else f"(-{-number})", "ℤ"))
    return value(expr, Budget())


def test_equal_normal_forms_are_equal_values_and_the_other_way_round() -> None:
    draw = random.Random(3)
    equal = 0
    for _ in range(200):
        one, other = (_read(_random_term(draw, 2), "ℤ") for _ in range(2))
        if draw.random() < 0.5:
            other = Expr("add", (Expr("sub", (one, other), type="ℤ"), other), type="ℤ")
        same = polynomial(one, Budget()) == polynomial(other, Budget())
        # Of degree at most 4 in each variable: a grid of five values decides.
        values = all(_at(one, x, y) == _at(other, x, y) for x, y in product(range(-2, 3), repeat=2))
        assert same == values
        equal += same
    assert equal > 50


@pytest.mark.parametrize(
    ("text", "type_", "expected"),
    [
        ("7 / 2", "ℕ", 3), ("7 / 2", "ℤ", 3), ("-7 / 2", "ℤ", -4), ("7 / (-2)", "ℤ", -3), ("-7 / (-2)", "ℤ", 4),
        ("-7 % 2", "ℤ", 1), ("7 % (-2)", "ℤ", 1), ("7 % 0", "ℤ", 7), ("7 / 0", "ℝ", 0), ("7 / 2", "ℚ", Fraction(7, 2)),
        ("3 - 5 + 4", "ℕ", 4), ("-2 ^ 2", "ℤ", -4), ("2 ^ 3 ^ 2", "ℕ", 512), ("0 ^ 0", "ℕ", 1), ("10 - 3 - 2", "ℕ", 5),
        ("(-1) ^ 999999999999", "ℤ", -1), ("1 ^ 999999999999", "ℤ", 1), ("0 ^ 999999999999", "ℤ", 0),
        ("12 / 2 * 3", "ℕ", 18), ("- - 3", "ℤ", 3),
    ],
)  # fmt: skip
def test_values_are_those_of_leans_types(text: str, type_: str, expected: Fraction) -> None:
    # Lean 3's whole division is the one whose remainder is never negative.
    assert value(_read(text, type_), Budget()) == expected


def test_linear_contradictions_are_those_of_brute_force() -> None:
    draw = random.Random(11)
    outcomes = set()
    for _ in range(300):
        given = []
        for _ in range(draw.randrange(2, 6)):
            weights = {name: Fraction(draw.randrange(-2, 3)) for name in "ab"}
            kept = tuple((((name, 1),), factor) for name, factor in weights.items() if factor)
            given.append(Constraint(kept, Fraction(draw.randrange(-3, 4)), draw.choice(["=", "≥", "≥", ">"])))
        found = contradictory(given, Budget())
        outcomes.add(found)
        assert found != _satisfiable(given)
    assert outcomes == {True, False}


def _satisfiable(given: list[Constraint]) -> bool:
    """Two unknowns: the corners of all pairs of lines, their middles and points far out are enough to look at."""
    lines: list[tuple[dict[Monomial, Fraction], Fraction]] = [(dict(one.weights), one.constant) for one in given]
    box: list[tuple[dict[Monomial, Fraction], Fraction]] = [
        ({(("a", 1),): Fraction(1)}, Fraction(side)) for side in (-97, 97)
    ]
    box += [({(("b", 1),): Fraction(1)}, Fraction(side)) for side in (-89, 89)]
    corners = []
    for (one, c1), (other, c2) in product(lines + box, repeat=2):
        a1, b1, a2, b2 = (weights.get(((name, 1),), Fraction(0)) for weights in (one, other) for name in "ab")
        if determinant := a1 * b2 - a2 * b1:
            corners.append(((b1 * c2 - b2 * c1) / determinant, (a2 * c1 - a1 * c2) / determinant))
    feasible = [point for point in corners if all(_weakly(one, point) for one in given)]
    middles = [_middle(feasible)] if feasible else []
    return any(all(_holds(one, point) for one in given) for point in feasible + middles)


def _middle(points: list[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    return (sum(p[0] for p in points) / Fraction(len(points)), sum(p[1] for p in points) / Fraction(len(points)))


def _left(one: Constraint, point: tuple[Fraction, Fraction]) -> Fraction:
    at: dict[Monomial, Fraction] = {(("a", 1),): point[0], (("b", 1),): point[1]}
    return one.constant + sum((factor * at[unknown] for unknown, factor in one.weights), Fraction(0))


def _weakly(one: Constraint, point: tuple[Fraction, Fraction]) -> bool:
    return _left(one, point) == 0 if one.relation == "=" else _left(one, point) >= 0


def _holds(one: Constraint, point: tuple[Fraction, Fraction]) -> bool:
    return _left(one, point) > 0 if one.relation == ">" else _weakly(one, point)


def test_a_number_too_large_is_refused_before_it_is_made() -> None:
    with pytest.raises(TacticFailed, match="too large"):
        value(_read("3 ^ 3 ^ 30", "ℕ"), Budget())
