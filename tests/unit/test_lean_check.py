"""Honest scripts of the Lean-3-like subset are valid, and each that is not says where it went wrong."""

import pytest

from evaluation.lean.check import Verdict, check, check_all

VALID = [
    "theorem t : 2 + 2 = 4 := by norm_num",
    "theorem t : (2 : ℝ) / 4 = 1 / 2 := by norm_num",
    "theorem t : 17 % 5 = 2 ∧ 7 ∣ 42 ∧ ¬ 7 ∣ 43 := by norm_num",
    "theorem t : (2 : ℤ) - 5 = -3 := by norm_num",
    "theorem t : (-7 : ℤ) % 3 = 2 ∧ (-7 : ℤ) / 3 = -3 ∧ (7 : ℤ) / (-3) = -2 := by norm_num",
    "theorem t : 2 - 5 = 0 := by norm_num",
    "theorem t : 2 ^ 10 > 1000 ↔ 3 ≠ 4 := by norm_num",
    "theorem t (x y : ℝ) : (x + y) ^ 2 = x ^ 2 + 2 * x * y + y ^ 2 := by ring",
    "theorem t (x : ℚ) : x / 2 + x / 3 = 5 * x / 6 := by ring",
    "theorem t (a b : ℕ) : (a + b) * (a + b) = a * a + 2 * a * b + b * b := by ring",
    "theorem t (a b : ℤ) : (a - b) * (a + b) = a ^ 2 - b ^ 2 := begin ring end",
    "theorem t (x y : ℝ) (h : x > 1) (g : y ≥ x) : y > 0 := by linarith",
    "theorem t (x y : ℝ) (h₁ : 2 * x + y = 7) (h₂ : x - y = 2) : x = 3 := by linarith",
    "theorem t (n : ℤ) (h : n > 2) : n ≥ 3 := by linarith",
    "theorem t (n : ℕ) (h : n < 1) : n = 0 := by linarith",
    "theorem t (n m : ℕ) : n * m + n ≥ 0 := by linarith",
    "theorem t (x : ℝ) (h : ¬ x < 3) : x ≥ 3 := by linarith",
    "theorem t (x y : ℝ) : x ^ 2 + y ^ 2 ≥ 2 * x * y := by linarith [sq_nonneg (x - y)]",
    "theorem t (x y : ℝ) (hx : 0 < x) (hy : 0 < y) : 0 < x * y + x := by linarith [mul_pos hx hy]",
    "theorem t (n : ℤ) : 3 ∣ 6 * n := by exact ⟨2 * n, by ring⟩",
    "theorem t (n : ℕ) : 3 ∣ 3 * n := by exact dvd_mul_right 3 n",
    "theorem t (x : ℤ) : x > 2 → x ≥ 3 := by\n  intro h\n  linarith",
    "theorem t (x : ℝ) (h : x = 2) : x = 2 ∧ x + 1 = 3 := begin\n  split,\n  exact h,\n  linarith,\nend",
    "theorem t (x : ℝ) (h : x = 2) : x = 2 ∧ x + 1 = 3 := by { split, { exact h }, { linarith } }",
    "theorem t (x : ℝ) (h : x = 2) : x = 2 ∧ x + 1 = 3 := by exact ⟨h, by linarith⟩",
    "theorem t (x : ℝ) : x + 1 = 3 ↔ x = 2 := by split; intro h; linarith",
    "theorem t : ∀ x y : ℝ, x + y = y + x := by\n  intros x y\n  ring",
    "theorem t (x : ℝ) (h : x ≥ 0 ∧ x ≤ 1) : x ≤ 1 := by exact h.2",
    "theorem t (p : ℤ) (h : p = 1 → p > 0) (g : p = 1) : p > 0 := by exact h g",
    "theorem t (x : ℤ) (f : ∀ y : ℤ, y < x) : x + 1 < x := by exact f (x + 1)",
    "theorem t (x : ℝ) (h : x < 0) : ¬ x > 1 := by\n  intro g\n  linarith",
    "theorem t (x : ℝ) : x = x := by refl",
    "theorem t : 12 * 12 = 144 := by refl",
    "theorem t (x y : ℝ) (h : x = y) : y = x := by exact h.symm",
    "theorem t (n : nat) : n + 0 >= 0 /\\ n <= n := by { split, linarith, refl }",
    "-- a comment: sorry, no axioms\nlemma t (x : ℝ) : /- here /- nested -/ too -/ x - x = 0 := by ring",
]


@pytest.mark.parametrize("script", VALID)
def test_an_honest_script_is_valid(script: str) -> None:
    assert check(script, script) == Verdict(True, True, True, True)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("", "parse: it begins with 'the end', not with theorem"),
        ("theorem t : 2 + 2 = 4", "parse: ':=' is expected before 'the end'"),
        ("theorem t : 2 + 2 = 4 := by", "proof: 1 goal is left open"),
        ("theorem t : 2 + 2 = 4 := by simp", "parse: 'simp' is no tactic here"),
        ("theorem t : 2 + = 4 := by norm_num", "parse: a name is expected where '=' stands"),
        ("theorem t : 1 < 2 < 3 := by norm_num", "parse: '<' follows a relation; relations do not chain"),
        ("theorem t (x : ℂ) : x = x := by refl", "parse: the character U+2102 has no meaning here"),
        ("theorem t : x = x := by refl", "types: 'x' is not known"),
        ("theorem t (x : ℝ) (n : ℤ) : x = n := by refl", "types: ℝ and ℤ stand in one relation"),
        ("theorem t (x : ℝ) : x % 2 = 0 := by norm_num", "types: % is asked of whole numbers, not of ℝ"),
        ("theorem t (x : ℝ) : 2 ∣ x := by norm_num", "types: ∣ is asked of whole numbers, not of ℝ"),
        ("theorem t (n : ℕ) : -n = 0 := by norm_num", "types: a natural number has no negative"),
        ("theorem t (x : ℝ) : x ^ x = 1 := by ring", "types: an exponent is a natural number"),
        ("theorem t (x : ℝ) : x := by ring", "types: a term stands where a proposition belongs"),
        ("theorem t : (1 = 1) + 2 = 3 := by ring", "types: a proposition (=) stands where a term belongs"),
        ("theorem t : 2 + 2 = 5 := by norm_num", "proof: norm_num: the goal is false"),
        ("theorem t : 2 / 4 = (1 : ℤ) := by norm_num", "proof: norm_num: the goal is false"),
        ("theorem t (x : ℝ) : x + 0 = x := by norm_num", "proof: norm_num: the goal has variables"),
        ("theorem t (x : ℝ) : x + 1 = x := by ring", "proof: ring: the sides have different normal forms"),
        ("theorem t (n m : ℕ) : n - m + m = n := by ring", "proof: ring: the sides have different normal forms"),
        ("theorem t (n : ℤ) : n / 2 * 2 = n := by ring", "proof: ring: the sides have different normal forms"),
        ("theorem t (x : ℝ) : x / x = 1 := by ring", "proof: ring: the sides have different normal forms"),
        ("theorem t (x : ℝ) (h : x < 3) : x < 3 := by ring", "proof: ring: the goal is no equation"),
        (
            "theorem t (x : ℝ) (h : x > 2) : x ≥ 3 := by linarith",
            "proof: linarith: the hypotheses and the negated goal do not contradict each other",
        ),
        ("theorem t (x : ℝ) : x ∣ x := by refl", "types: ∣ is asked of whole numbers, not of ℝ"),
        ("theorem t (x : ℝ) : x + 0 = x := by refl", "proof: refl: the sides are not the same"),
        ("theorem t : (2 : ℝ) + 2 = 4 := by refl", "proof: refl: the sides are not the same"),
        ("theorem t (x : ℝ) (h : x = 1) : x = 2 := by exact h", "proof: exact: it shows something else than the goal"),
        ("theorem t (x : ℝ) : x = 2 := by exact h", "proof: 'h' is not known"),
        ("theorem t (x : ℝ) : x = 2 := by exact t", "proof: 't' is not known"),
        ("theorem t (x : ℝ) : x = 2 := by exact t x", "proof: 't' is not known"),
        ("theorem t (n : ℕ) : n ≥ 0 ∧ n ≥ 1 := by { split, linarith }", "proof: { … } leaves a goal open"),
        ("theorem t (n : ℕ) : n ≥ 0 ∧ n ≥ 1 := by split, linarith", "proof: 1 goal is left open"),
        ("theorem t : 1 = 1 := by { refl, refl }", "proof: refl: there is no goal left"),
        ("theorem t (x : ℝ) : x = x := by split", "proof: split: the goal is no ∧ and no ↔"),
        (
            "theorem t (n : ℕ) : n ^ 2 ≥ 0 := by exact sq_nonneg n",
            "proof: this lemma is one of ordered rings, and ℕ is none",
        ),
        (
            "theorem t (n : ℤ) : 3 ∣ 5 * n := by exact ⟨2 * n, by ring⟩",
            "proof: ring: the sides have different normal forms",
        ),
        ("theorem t (x : ℝ) : x = 1 := by intro h", "proof: intro: the goal is no implication and no ∀"),
    ],
)  # fmt: skip
def test_a_script_that_is_not_says_where_it_went_wrong(script: str, reason: str) -> None:
    reference = "theorem t : 1 = 1"
    verdict = check(script, script if reason.startswith("proof") else reference)
    assert verdict.reason == reason
    assert not verdict.valid


def test_ways_of_writing_that_change_nothing_are_one_statement() -> None:
    asked = "theorem t (x y : ℝ) (h : x > 1) (g : y = x + 2) : 3 < y ∧ y > x := by linarith"
    for same in (
        "theorem u (a b : ℝ) (one : 1 < a) (two : b = 2 + a) : b > a ∧ b > 3 := by exact ⟨by linarith, by linarith⟩",
        "theorem t (y x : ℝ) (g : x + 2 = y) (h : x > 1) : y > 3 ∧ y > x := by { split; linarith }",
        "theorem t (x y : ℝ) (h : x > 1 ∧ y = x + 2) : y > 3 ∧ y > x := by split; linarith [h.1, h.2]",
        "theorem t : ∀ x y : ℝ, x > 1 → y = x + 2 → y > 3 ∧ y > x := by\n intros x y h g\n split; linarith",
    ):
        assert check(same, asked).valid, check(same, asked)


def test_many_are_judged_each_by_its_own_reference() -> None:
    verdicts = check_all(VALID[:2], [VALID[0], VALID[0]])
    assert [one.valid for one in verdicts] == [True, False]
    assert verdicts[0].to_json() == {
        "parsed": True, "typed": True, "faithful": True, "proved": True, "reason": "", "valid": True,
    }  # fmt: skip
    with pytest.raises(ValueError):
        check_all(VALID[:2], VALID[:1])
