"""Proofs that real Lean 3 accepts: each of miniF2F's that is in the subset is valid here, and none of its untruths is.

The problems are not part of the repository (Apache 2.0, github.com/openai/miniF2F); they are looked for in
`$MLRB_MINIF2F`.
"""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.lean.check import check
from evaluation.lean.elaborate import elaborate
from evaluation.lean.errors import Budget, LeanError
from evaluation.lean.script import Script, parse_script
from evaluation.lean.syntax import Expr
from evaluation.lean.tactics import first_goal, prove

PLACE = Path(os.environ.get("MLRB_MINIF2F", Path(__file__).parents[3] / "shared/data/minif2f"))
pytestmark = pytest.mark.skipif(not PLACE.is_dir(), reason="miniF2F is not here")


def _in_the_subset() -> list[tuple[str, Script]]:
    found = []
    for file in ("valid.lean", "test.lean"):
        for text in re.split(r"\n(?=theorem )", (PLACE / file).read_text(encoding="utf-8"))[1:]:
            try:
                script = parse_script(text)
                elaborate(script.statement)
            except LeanError:
                continue
            found.append((text, script))
    return found


def test_each_proof_that_lean_accepts_and_the_subset_can_say_is_valid() -> None:
    scripts = _in_the_subset()
    assert len(scripts) >= 44
    refused = {text.split()[1]: check(text, text).reason for text, _ in scripts if not check(text, text).valid}
    assert refused == {}


def test_no_proof_shows_a_goal_that_is_off_by_one() -> None:
    tried = 0
    for _, script in _in_the_subset():
        goal = script.statement.goal
        if goal.op != "eq":
            continue
        off = Expr("eq", (goal.args[0], Expr("add", (goal.args[1], Expr("num", value=1)))))
        untrue = elaborate(replace(script.statement, goal=off))
        with pytest.raises(LeanError):
            prove(first_goal(untrue), script.tactics, Budget())
        tried += 1
    assert tried >= 30
