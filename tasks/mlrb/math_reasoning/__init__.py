"""Autoformalisation: a statement and its proof in English to a Lean 3 theorem with its proof (ICML 2024, track 1-1)."""
