"""A script that proves something easier than what was asked, or would stall the checker, is not valid."""

import time

import pytest

from evaluation.lean.check import check
from evaluation.lean.forbidden import forbidden

ASKED = "theorem t (x y : ℝ) (h : x > 1) (g : y = x + 2) : y > 3 := by linarith"


@pytest.mark.parametrize(
    "cheat",
    [
        "theorem t : 1 = 1 := by norm_num",
        "theorem t (x y : ℝ) (h : x > 1) (g : y = x + 2) : 3 > 2 := by norm_num",
        "theorem t (x y : ℝ) (h : x > 1) (g : y = x + 2) : y = y := by refl",
        "theorem t (x y : ℝ) (h : x > 1) (g : y = x + 2) : y > 3 → y > 3 := by\n intro k\n exact k",
        "theorem t (x y : ℝ) (h : x > 1) (g : y = x + 2) (k : y > 3) : y > 3 := by exact k",
        "theorem t (x y : ℝ) (h : y > 3) (g : y = x + 2) : y > 3 := by exact h",
        "theorem t (x y : ℝ) (h : x > 5) (g : y = x + 2) : y > 3 := by linarith",
        "theorem t (x y : ℝ) (h : x > 1) (g : y = x + 2) : y ≥ 3 := by linarith",
        "theorem t (x y : ℝ) (h : x > 1) (g : y = x + 2) : y > 3 ∨ y ≤ 3 := by linarith",
        "theorem t (x y : ℤ) (h : x > 1) (g : y = x + 2) : y > 3 := by linarith",
        "theorem t (x y z : ℝ) (h : x > 1) (g : y = x + 2) : y > 3 := by linarith",
        "theorem t (x y : ℝ) (h : x > 1) (g : y = x + 2) : x > 1 := by exact h",
    ],
)
def test_another_statement_is_not_the_one_asked_for(cheat: str) -> None:
    verdict = check(cheat, ASKED)
    assert not verdict.faithful
    assert not verdict.valid
    assert check(ASKED, ASKED).valid


def test_hypotheses_that_contradict_each_other_are_named() -> None:
    cheat = "theorem t (x y : ℝ) (h : x > 1) (g : y = x + 2) (k : x < 0) : y > 3 := by linarith"
    verdict = check(cheat, ASKED)
    assert (verdict.proved, verdict.valid) == (True, False)
    assert verdict.reason == "statement: its hypotheses contradict each other"


@pytest.mark.parametrize(
    ("asked", "cheat"),
    [
        ("theorem t (a b : ℤ) : a + b = b + a", "theorem t (a b : ℤ) : a + b = a + b := by refl"),
        ("theorem t (a b : ℤ) : a * b ∣ b * a", "theorem t (a b : ℤ) : a * b ∣ a * b := by refl"),
        ("theorem t (x : ℝ) : (x + 1) ^ 2 = x ^ 2 + 2 * x + 1", "theorem t (x : ℝ) : 0 = 0 := by refl"),
        (
            "theorem t (x : ℝ) : (x + 1) ^ 2 = x ^ 2 + 2 * x + 1",
            "theorem t (x : ℝ) : (x + 1) ^ 2 = (x + 1) ^ 2 := by refl",
        ),
        ("theorem t (x : ℝ) : x * x = x ^ 2", "theorem t (x : ℝ) : x * x = x * x := by refl"),
        ("theorem t : 2 + 2 = 4", "theorem t : 4 = 4 := by refl"),
        ("theorem t (a b : ℤ) (h : a = b) : b = a", "theorem t (a b : ℤ) (h : a = b) : a = b := by exact h"),
        ("theorem t : (7 : ℤ) - 9 = -2", "theorem t : 7 - 9 = 0 := by norm_num"),
        ("theorem t : (1 : ℝ) / 2 > 0", "theorem t : 1 / 2 = 0 := by norm_num"),
    ],
)
def test_the_freedom_of_writing_does_not_make_a_claim_trivial(asked: str, cheat: str) -> None:
    verdict = check(cheat, asked)
    assert (verdict.proved, verdict.faithful) == (True, False)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("theorem t : 2 + 2 = 5 := by sorry", "sorry: leaves a hole"),
        ("theorem t : 2 + 2 = 5 := by admit", "admit: leaves a hole"),
        ("axiom a : 1 = 2\ntheorem t : 1 = 2 := by exact a", "axiom: supposes something new"),
        ("constant c : 1 = 2\ntheorem t : 1 = 2 := by exact c", "constant: supposes something new"),
        ("meta def x := 1\ntheorem t : 1 = 1 := by refl", "meta: runs code"),
        ("theorem t : 1 = 1 := by run_cmd x", "run_cmd: runs code"),
        ("theorem t : 1 = 1 := by native_decide", "native_decide: runs code"),
        ("#eval 1\ntheorem t : 1 = 1 := by refl", "#eval: is a command"),
        ("set_option x true\ntheorem t : 1 = 1 := by refl", "set_option: gives words another meaning"),
        ('notation "2" := 3\ntheorem t : 1 = 1 := by refl', "a string: no proof needs one"),
        ("import evil\ntheorem t : 1 = 1 := by refl", "import evil: not among the allowed"),
        ("theorem «sorry» : 1 = 1 := by refl", "«…» hides a name"),
        ("theorem t : 1 = 1 := by refl /- no end", "a comment does not end"),
        ("theorem u : 1 = 1 := by refl\ntheorem t : 2 = 2 := by refl", "2 theorems: one is asked for"),
        ("/- \"-/ sorry -/\" -/ theorem t : 1 = 1 := by refl", "a string: no proof needs one"),
    ],
)  # fmt: skip
def test_what_no_honest_proof_needs_is_named(script: str, reason: str) -> None:
    assert reason in forbidden(script)
    verdict = check(script, "theorem t : 1 = 1")
    assert verdict.reason == forbidden(script)[0]
    assert not verdict.valid


def test_a_word_in_a_comment_or_inside_another_is_no_such_word() -> None:
    honest = "-- no axiom, no sorry\ntheorem sorry_free (admitted : 1 = 1) : 1 = 1 := by exact admitted"
    assert forbidden(honest) == []
    assert forbidden("import data.real.basic tactic\ntheorem t : 1 = 1 := by refl", ["data.real.basic"]) == [
        "import tactic: not among the allowed"
    ]


@pytest.mark.parametrize(
    "script",
    [
        "theorem t (x x : ℝ) : x = x := by refl",
        "theorem t (x : ℝ) (x : x = 2) : x = 2 := by exact x",
        "theorem t (norm_num : ℝ) : norm_num = norm_num := by refl",
        "theorem t (х : ℝ) : x = x := by refl",
        "theorem t (x : ℝ) : x = x\u200b := by refl",
        "theorem t (x : ℝ) : x ﹦ x := by refl",
        "theorem t (x : ℝ) : x = x := by refl\u202e",
        "theorem t (x : ℝ) : x = x := by refl\x00",
        "theorem t (x : ℝ) : x = x := by refl extra",
        "theorem t (\ud800 : ℝ) : 1 = 1 := by refl",
        "theorem 2 : 1 = 1 := by refl",
    ],
)
def test_names_and_characters_that_deceive_are_refused(script: str) -> None:
    verdict = check(script, "theorem t (x : ℝ) : x = x")
    assert not verdict.parsed
    assert verdict.reason.startswith("parse:")


def _falls(count: int) -> str:
    names = " ".join(f"x{number}" for number in range(count))
    pairs = " ".join(
        f"(h{one}_{other} : {1 + one}*x{one} + {one + other}*x{one * other % count} ≤ {2 + other}*x{other})"
        for one in range(count)
        for other in range(count)
        if one != other
    )
    return f"theorem t ({names} : ℝ) {pairs} : x0 > 1000 := by linarith"


@pytest.mark.parametrize(
    "script",
    [
        "theorem t : 9 ^ 9 ^ 9 ^ 9 = 1 := by norm_num",
        "theorem t : (1 + 1) ^ 999999999 = 1 := by norm_num",
        "theorem t (x : ℝ) : (x + 1) ^ 999999999 = 1 := by ring",
        "theorem t (a b c d e f : ℝ) : (a + b + c + d + e + f) ^ 60 = 1 := by ring",
        "theorem t (x : ℝ) : ((((x + 1) ^ 60) ^ 60) ^ 60) ^ 60 = 1 := by ring",
        "theorem t : (2 : ℝ) ^ 4000 * 2 ^ 4000 * 2 ^ 4000 = 1 := by norm_num",
        f"theorem t : {'9' * 100_000} = 1 := by norm_num",
        f"theorem t : {'(' * 5000}1{')' * 5000} = 1 := by norm_num",
        f"theorem t : {'¬ ' * 5000} 1 = 1 := by norm_num",
        f"theorem t : {'1 + ' * 3000} 1 = 1 := by norm_num",
        f"theorem t : {' → '.join(['1 = 1'] * 900)} := by norm_num",
        f"theorem t : 1 = 1 := by exact {'⟨' * 3000}",
        f"theorem t : 1 = 1 := by exact {'(' * 3000}",
        f"theorem t : 1 = 1 := by {'{ ' * 3000}",
        f"theorem t : 1 = 1 := by {'refl, ' * 1500}",
        f"theorem t (x : ℝ) (h : {' ∧ '.join(['x = 1'] * 50)}) : x = 2 := by linarith",
        "/-" * 5000 + "theorem t : 1 = 1 := by refl",
        "theorem t : " + " " * 30_000 + "1 = 2 := by refl",
        _falls(7),
    ],
    ids=lambda script: script[:24],
)
def test_nothing_takes_long_and_nothing_crashes(script: str) -> None:
    started = time.process_time()
    verdict = check(script, "theorem t : 1 = 1")
    assert not verdict.valid
    assert verdict.reason
    # Work is bounded by counted steps; this only catches work that isn't counted.
    assert time.process_time() - started < 20


def test_a_bracket_that_never_pays_does_not_double_the_work() -> None:
    started = time.process_time()
    check(f"theorem t : 1 = 1 := by exact {'(' * 39}x +{')' * 39}", "theorem t : 1 = 1")
    check(f"theorem t : 1 = 1 := by exact {'⟨' * 39}x +{'⟩' * 39}", "theorem t : 1 = 1")
    assert time.process_time() - started < 5
