"""Problems as templates: how numbers are drawn, three ways to state each, how it is shown, and its Lean script.

Every script is in the subset that `evaluation/lean` decides. `{A}`, `{B}` are people, `{things}` what they have, `{v}`
and `{w}` variables; all other fields are numbers. In a statement, a number may be written as a word.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

Numbers = dict[str, int]


@dataclass(frozen=True)
class Template:
    """One kind of problem."""

    name: str
    draw: Callable[[Random], Numbers]
    statements: tuple[str, str, str]
    """The three paraphrase families."""
    proofs: tuple[str, ...]
    lean: str
    """Without `theorem NAME` in front."""


def _total(rng: Random) -> Numbers:
    a, b = rng.randint(2, 60), rng.randint(2, 60)
    return {"a": a, "b": b, "c": a + b}


def _left(rng: Random) -> Numbers:
    b, c = rng.randint(2, 50), rng.randint(2, 50)
    return {"a": b + c, "b": b, "c": c}


def _times(rng: Random) -> Numbers:
    a, k = rng.randint(2, 30), rng.randint(2, 9)
    return {"a": a, "k": k, "c": a * k}


def _ages(rng: Random) -> Numbers:
    a, p = rng.randint(2, 30), rng.randint(3, 45)
    return {"a": a, "p": p, "s": 2 * p + a}


def _linear(rng: Random) -> Numbers:
    a, d, b = rng.randint(2, 9), rng.randint(2, 15), rng.randint(1, 30)
    return {"a": a, "b": b, "c": a * d + b, "d": d, "e": a * d}


def _linear_minus(rng: Random) -> Numbers:
    a, d = rng.randint(2, 9), rng.randint(6, 18)
    b = rng.randint(1, a * d - 2)
    return {"a": a, "b": b, "c": a * d - b, "d": d, "e": a * d}


def _system(rng: Random) -> Numbers:
    q, d = rng.randint(2, 40), rng.randint(1, 30)
    return {"s": 2 * q + d, "d": d, "p": q + d, "q": q}


def _substitute(rng: Random) -> Numbers:
    a, p, d = rng.randint(2, 9), rng.randint(2, 14), rng.randint(2, 25)
    return {"a": a, "d": d, "s": a * p + d, "p": p}


def _divides(rng: Random) -> Numbers:
    a, k = rng.randint(2, 20), rng.randint(2, 20)
    return {"a": a, "k": k, "c": a * k}


def _remainder(rng: Random) -> Numbers:
    a, k = rng.randint(3, 14), rng.randint(1, 12)
    r = rng.randint(1, a - 1)
    return {"a": a, "k": k, "r": r, "c": a * k + r, "e": a * k}


def _square(rng: Random) -> Numbers:
    a, k = rng.randint(1, 16), rng.randint(2, 9)
    return {"a": a, "k": k, "k2": k * k, "b": 2 * a * k, "c": a * a}


def _product(rng: Random) -> Numbers:
    a, b = sorted((rng.randint(1, 25), rng.randint(1, 25)))
    return {"a": a, "b": b, "s": a + b, "c": a * b}


def _squares(rng: Random) -> Numbers:
    a, k = rng.randint(1, 20), rng.randint(2, 9)
    return {"a": a, "k": k, "k2": k * k, "c": a * a}


def _power(rng: Random) -> Numbers:
    a, b = rng.randint(2, 12), rng.randint(1, 60)
    return {"a": a, "b": b, "e": a * a, "c": a * a + b}


def _both(rng: Random) -> Numbers:
    a, b, k = rng.randint(2, 20), rng.randint(2, 40), rng.randint(2, 8)
    return {"a": a, "b": b, "c": a + b, "k": k, "d": k * a}


TEMPLATES: tuple[Template, ...] = (
    Template(
        "total",
        _total,
        (
            "{A} has {a} {things} and {B} has {b} {things}. Show that together they have {c} {things}.",
            "There are {a} {things} with {A}, and {b} {things} with {B}. Prove that there are {c} {things} in all.",
            "{B} owns {b} {things}, while {A} owns {a} of them. Together, as is to be shown, they own {c}.",
        ),
        ("The sum of {a} and {b} is {c}.", "We add: {a} + {b} = {c}."),
        "(x y : ℕ) (h₁ : x = {a}) (h₂ : y = {b}) : x + y = {c} :=\nby linarith",
    ),
    Template(
        "left",
        _left,
        (
            "{A} has {a} {things} and gives {b} of them to {B}. Show that {A} has {c} {things} left.",
            "Of {a} {things}, {A} hands {b} to {B}. Prove that {c} remain.",
            "After {B} took {b} {things} from {A}, who had {a}, there are {c} left with {A}. Show this.",
        ),
        ("Taking {b} from {a} leaves {c}.", "We subtract: {a} - {b} = {c}."),
        "(x y : ℤ) (h₁ : x = {a}) (h₂ : y = x - {b}) : y = {c} :=\nby linarith",
    ),
    Template(
        "times",
        _times,
        (
            "{A} has {a} {things}. {B} has {k} times as many. Show that {B} has {c} {things}.",
            "For each of the {a} {things} of {A}, {B} has {k}. Prove that {B} has {c} {things}.",
            "{B} owns {k} times as many {things} as {A}, who owns {a}. Then {B} owns {c}; show it.",
        ),
        ("We multiply: {k} * {a} = {c}.", "{k} times {a} is {c}."),
        "(x y : ℕ) (h₁ : x = {a}) (h₂ : y = {k} * x) : y = {c} :=\nby linarith",
    ),
    Template(
        "ages",
        _ages,
        (
            "{A} has {a} more {things} than {B}. Together they have {s}. Show that {B} has {p} {things}.",
            "{A} and {B} have {s} {things} between them, {A} having {a} more than {B}. Prove that {B} has {p}.",
            "With {a} more {things}, {B} would have as many as {A}. Both have {s} in all. So {B} has {p}; show it.",
        ),
        ("Twice the number of {B} and {a} make {s}, so it is {p}.", "From 2 * y + {a} = {s} follows y = {p}."),
        "(x y : ℕ) (h₁ : x = y + {a}) (h₂ : x + y = {s}) : y = {p} :=\nby linarith",
    ),
    Template(
        "price",
        _linear,
        (
            "{A} buys {a} {things} and a bag of {b} coins, and pays {c} coins in all. Show that each costs {d} coins.",
            "A bag is {b} coins. With {a} {things} in it, {B} pays {c} coins. Prove that one of them is {d} coins.",
            "In all {A} pays {c} coins, {b} for a bag, the rest for {a} {things}. Show that the price of one is {d}.",
        ),
        ("Without the bag it is {e} coins, and {e} / {a} = {d}.", "{a} * x = {c} - {b} = {e}, so x = {d}."),
        "(x : ℕ) (h : {a} * x + {b} = {c}) : x = {d} :=\nby linarith",
    ),
    Template(
        "linear",
        _linear,
        (
            "Let {v} be a real number with {a} * {v} + {b} = {c}. Show that {v} = {d}.",
            "Suppose that {a} times the real number {v}, increased by {b}, is {c}. Prove that {v} equals {d}.",
            "The real solution of {a} * {v} + {b} = {c} is {v} = {d}. Show this.",
        ),
        ("Subtracting {b} gives {a} * {v} = {e}, so {v} = {d}.", "We have {a} * {v} = {e}. Divide by {a}."),
        "({v} : ℝ) (h : {a} * {v} + {b} = {c}) : {v} = {d} :=\nby linarith",
    ),
    Template(
        "linear_minus",
        _linear_minus,
        (
            "Let {v} be an integer with {a} * {v} - {b} = {c}. Show that {v} = {d}.",
            "Suppose that {a} times the integer {v}, decreased by {b}, is {c}. Prove that {v} equals {d}.",
            "The integer solution of {a} * {v} - {b} = {c} is {v} = {d}. Show this.",
        ),
        ("Adding {b} gives {a} * {v} = {e}, so {v} = {d}.", "We have {a} * {v} = {e}. Divide by {a}."),
        "({v} : ℤ) (h : {a} * {v} - {b} = {c}) : {v} = {d} :=\nby linarith",
    ),
    Template(
        "system",
        _system,
        (
            "Real numbers {v} and {w} have the sum {s} and the difference {d}. Show that {v} = {p}.",
            "Let {v} + {w} = {s} and {v} - {w} = {d} over the reals. Prove that {v} equals {p}.",
            "If reals {v} and {w} differ by {d}, {v} being greater, and add up to {s}, then {v} is {p}. Show this.",
        ),
        ("Adding both equations gives 2 * {v} = {s} + {d}, so {v} = {p}.", "{w} = {q}, so {v} = {q} + {d} = {p}."),
        "({v} {w} : ℝ) (h₁ : {v} + {w} = {s}) (h₂ : {v} - {w} = {d}) : {v} = {p} :=\nby linarith",
    ),
    Template(
        "substitute",
        _substitute,
        (
            "Let {v} and {w} be rational with {a} * {v} + {w} = {s} and {w} = {d}. Show that {v} = {p}.",
            "For rationals {v}, {w}: {w} is {d}, and {a} times {v} plus {w} is {s}. Prove that {v} equals {p}.",
            "Given {w} = {d}, the rational {v} with {a} * {v} + {w} = {s} is {p}. Show this.",
        ),
        ("Put {d} for {w}: {a} * {v} = {s} - {d}, so {v} = {p}.", "We replace {w} by {d} and solve for {v}."),
        "({v} {w} : ℚ) (h₁ : {a} * {v} + {w} = {s}) (h₂ : {w} = {d}) : {v} = {p} :=\nby linarith",
    ),
    Template(
        "divides",
        _divides,
        (
            "Show that {a} divides {c}.",
            "Prove that {c} is a multiple of {a}.",
            "{c} can be divided by {a} without remainder. Show this.",
        ),
        ("Indeed {c} = {a} * {k}.", "{k} times {a} is {c}."),
        ": {a} ∣ {c} :=\nby norm_num",
    ),
    Template(
        "divides_not",
        _remainder,
        (
            "Show that {a} does not divide {c}.",
            "Prove that {c} is no multiple of {a}.",
            "{c} cannot be divided by {a} without remainder. Show this.",
        ),
        ("We have {c} = {a} * {k} + {r}.", "The remainder is {r}, not 0."),
        ": ¬ {a} ∣ {c} :=\nby norm_num",
    ),
    Template(
        "remainder",
        _remainder,
        (
            "Show that {c} leaves the remainder {r} when divided by {a}.",
            "Prove that dividing {c} {things} among {a} children leaves {r} of them over.",
            "Modulo {a}, the number {c} is {r}. Show this.",
        ),
        ("{c} = {e} + {r}, and {e} = {a} * {k}.", "{k} times {a} is {e}, and {r} is left."),
        ": {c} % {a} = {r} :=\nby norm_num",
    ),
    Template(
        "multiple",
        _divides,
        (
            "Let {v} be an integer. Show that {a} divides {c} * {v}.",
            "Prove that {c} times any integer {v} is a multiple of {a}.",
            "Whatever the integer {v} is, {c} * {v} can be divided by {a}. Show this.",
        ),
        ("{c} * {v} = {a} * ({k} * {v}).", "As {c} is {k} times {a}, the quotient is {k} * {v}."),
        "({v} : ℤ) : {a} ∣ {c} * {v} :=\nby exact ⟨{k} * {v}, by ring⟩",
    ),
    Template(
        "square",
        _square,
        (
            "Show that ({k} * {v} + {a}) ^ 2 = {k2} * {v} ^ 2 + {b} * {v} + {c} for every real {v}.",
            "Prove for real {v} that the square of {k} * {v} + {a} is {k2} * {v} ^ 2 + {b} * {v} + {c}.",
            "Squaring {k} * {v} + {a} gives {k2} * {v} ^ 2 + {b} * {v} + {c}, whatever the real {v}. Show this.",
        ),
        ("The middle term is {b} * {v}, and {a} ^ 2 = {c}.", "Expand the square."),
        "({v} : ℝ) : ({k} * {v} + {a}) ^ 2 = {k2} * {v} ^ 2 + {b} * {v} + {c} :=\nby ring",
    ),
    Template(
        "product",
        _product,
        (
            "Show that ({v} + {a}) * ({v} + {b}) = {v} ^ 2 + {s} * {v} + {c} for every integer {v}.",
            "Prove that the product of {v} + {a} and {v} + {b} is {v} ^ 2 + {s} * {v} + {c} for an integer {v}.",
            "Multiplying {v} + {a} by {v} + {b} gives {v} ^ 2 + {s} * {v} + {c}, {v} being an integer. Show this.",
        ),
        ("{a} + {b} = {s} and {a} * {b} = {c}.", "Expand the product; {a} * {b} is {c}."),
        "({v} : ℤ) : ({v} + {a}) * ({v} + {b}) = {v} ^ 2 + {s} * {v} + {c} :=\nby ring",
    ),
    Template(
        "squares",
        _squares,
        (
            "Show that {k2} * {v} ^ 2 - {c} = ({k} * {v} - {a}) * ({k} * {v} + {a}) for every real {v}.",
            "Prove that {k2} * {v} ^ 2 - {c} is the product of {k} * {v} - {a} and {k} * {v} + {a} for real {v}.",
            "For real {v}, {k2} * {v} ^ 2 - {c} has the factors {k} * {v} - {a} and {k} * {v} + {a}. Show this.",
        ),
        ("It is a difference of squares: {a} ^ 2 = {c}.", "Expand the right side; the terms in {v} cancel."),
        "({v} : ℝ) : {k2} * {v} ^ 2 - {c} = ({k} * {v} - {a}) * ({k} * {v} + {a}) :=\nby ring",
    ),
    Template(
        "bound",
        _linear,
        (
            "Let {v} be a real number greater than {d}. Show that {a} * {v} + {b} > {c}.",
            "Suppose that {v} > {d} over the reals. Prove that {a} times {v}, increased by {b}, is more than {c}.",
            "{a} * {v} + {b} exceeds {c} whenever the real {v} exceeds {d}. Show this.",
        ),
        ("{a} * {v} > {e}; add {b}.", "Multiply by {a}, which gives {e}, and add {b}."),
        "({v} : ℝ) (h : {v} > {d}) : {a} * {v} + {b} > {c} :=\nby linarith",
    ),
    Template(
        "bound_sum",
        _total,
        (
            "Let {v} and {w} be real with {v} at most {a} and {w} at most {b}. Show that {v} + {w} is at most {c}.",
            "Suppose that {v} ≤ {a} and {w} ≤ {b} over the reals. Prove that {v} + {w} ≤ {c}.",
            "The sum of reals {v}, not above {a}, and {w}, not above {b}, is not above {c}. Show this.",
        ),
        ("Add both inequalities: {a} + {b} = {c}.", "The greatest sum is {a} + {b} = {c}."),
        "({v} {w} : ℝ) (h₁ : {v} ≤ {a}) (h₂ : {w} ≤ {b}) : {v} + {w} ≤ {c} :=\nby linarith",
    ),
    Template(
        "budget",
        _times,
        (
            "{A} has {c} coins, and each of the {things} costs {k} coins. Show that {A} can buy at most {a}.",
            "At {k} coins each, {B} buys {things} for no more than {c} coins. Prove that it is {a} at most.",
            "No more than {a} {things} can be had for {c} coins if one costs {k}. Show this.",
        ),
        ("{k} * {a} = {c}.", "Divide {c} by {k}, which is {a}."),
        "(x : ℕ) (h : {k} * x ≤ {c}) : x ≤ {a} :=\nby linarith",
    ),
    Template(
        "implies",
        _total,
        (
            "Show for an integer {v}: if {v} > {a}, then {v} + {b} > {c}.",
            "Prove that {v} > {a} implies {v} + {b} > {c} for integers {v}.",
            "Adding {b} to an integer {v} above {a} gives more than {c}. Show this.",
        ),
        ("Add {b} on both sides: {a} + {b} = {c}.", "Assume {v} > {a} and add {b}."),
        "({v} : ℤ) : {v} > {a} → {v} + {b} > {c} :=\nbegin\n  intro h,\n  linarith\nend",
    ),
    Template(
        "both",
        _both,
        (
            "Let {v} = {a} be real. Show that {v} + {b} = {c} and {k} * {v} = {d}.",
            "Suppose that the real number {v} is {a}. Prove that {v} + {b} is {c}, and that {k} * {v} is {d}.",
            "If a real {v} equals {a}, then both {v} + {b} = {c} and {k} * {v} = {d}. Show this.",
        ),
        ("{a} + {b} = {c}, and {k} * {a} = {d}.", "Put {a} for {v} in both."),
        "({v} : ℝ) (h : {v} = {a}) : {v} + {b} = {c} ∧ {k} * {v} = {d} :=\n"
        "begin\n  split,\n  linarith,\n  linarith\nend",
    ),
    Template(
        "exactly",
        _times,
        (
            "Show that {k} * {v} = {c} if and only if {v} = {a}, for real {v}.",
            "Prove for a real {v} that {k} times {v} is {c} exactly when {v} is {a}.",
            "A real {v} solves {k} * {v} = {c} if it is {a}, and only then. Show this.",
        ),
        ("Divide by {k}; conversely {k} * {a} = {c}.", "{k} * {a} = {c}, and {k} is not 0."),
        "({v} : ℝ) : {k} * {v} = {c} ↔ {v} = {a} :=\n"
        "begin\n  split,\n  intro h,\n  linarith,\n  intro h,\n  linarith\nend",
    ),
    Template(
        "power",
        _power,
        (
            "Show that {a} ^ 2 + {b} = {c}.",
            "Prove that the square of {a}, increased by {b}, is {c}.",
            "Adding {b} to {a} ^ 2 gives {c}. Show this.",
        ),
        ("{a} ^ 2 = {e}, and {e} + {b} = {c}.", "The square is {e}; add {b}."),
        ": {a} ^ 2 + {b} = {c} :=\nby refl",
    ),
)  # fmt: skip
