"""Are generated Lean scripts right: by the real compiler where it is there, and offline for a small Lean-3-like subset.

`compiler` runs `lean` on scripts and reads what it says (`messages`); `forbidden` names what no honest proof needs.
`check` judges scripts of the subset without a compiler. One theorem a script,

    theorem NAME (x y : TYPE) (h : HYPOTHESIS) … : GOAL := by TACTICS

with TYPE one of ℕ ℤ ℚ ℝ, statements of + - * / % ^ = ≠ < ≤ > ≥ ∣ ∧ ∨ → ↔ ¬ ∀, and the tactics norm_num, ring, linarith,
intro, exact, split and refl, each deciding what it says (`tactics`). A script is valid where it parses, its types fit,
it states what was asked (`statements`) and its proof closes every goal. Everything is bounded by counted steps, not by
a clock, so a verdict is the same on every machine.
"""
