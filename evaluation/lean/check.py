"""Judges a generated script of the subset against the statement that was asked for, without a compiler."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evaluation.lean.elaborate import elaborate
from evaluation.lean.errors import Budget, LeanError
from evaluation.lean.forbidden import forbidden
from evaluation.lean.linear import contradictory
from evaluation.lean.script import Statement, parse_script, parse_statement
from evaluation.lean.statements import same_statement
from evaluation.lean.tactics import constraints, first_goal, prove

CONTRADICTORY = "its hypotheses contradict each other"


@dataclass(frozen=True)
class Verdict:
    """How far a script got. Only one that is all four is valid."""

    parsed: bool = False
    typed: bool = False
    faithful: bool = False
    """It states what was asked for."""
    proved: bool = False
    reason: str = ""
    """Why it is not valid, in one line."""

    @property
    def valid(self) -> bool:
        """It states what was asked for, and proves it."""
        return self.parsed and self.typed and self.faithful and self.proved

    def to_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`."""
        return {**asdict(self), "valid": self.valid}


def check(script: str, reference: str) -> Verdict:
    """Judge one script; `reference` is the theorem asked for, with or without a proof. Never raises for a script."""
    asked = elaborate(parse_statement(reference))
    if bad := forbidden(script):
        return Verdict(reason=bad[0])
    try:
        return _judged(script, asked)
    except RecursionError:
        return Verdict(reason="it is nested too deeply")


def _judged(script: str, asked: Statement) -> Verdict:
    try:
        parsed = parse_script(script)
    except LeanError as error:
        return Verdict(reason=f"parse: {error}")
    try:
        stated = elaborate(parsed.statement)
    except LeanError as error:
        return Verdict(parsed=True, reason=f"types: {error}")
    faithful = same_statement(stated, asked)
    why = "" if faithful else f"statement: {_difference(stated, asked)}"
    try:
        prove(first_goal(stated), parsed.tactics, Budget())
    except LeanError as error:
        return Verdict(True, True, faithful, False, why or f"proof: {error}")
    return Verdict(True, True, faithful, True, why)


def check_all(scripts: Sequence[str], references: Sequence[str]) -> list[Verdict]:
    """Judge each script against its reference; `ValueError` where their numbers differ."""
    return [check(script, reference) for script, reference in zip(scripts, references, strict=True)]


def contradicts_itself(statement: Statement) -> bool:
    """Whether the hypotheses of an elaborated theorem exclude each other, so that it says nothing."""
    budget = Budget()
    try:
        claims = [claim for _, claim in first_goal(statement).hypotheses]
        return contradictory(constraints(claims, budget), budget)
    except LeanError:
        return False


def _difference(stated: Statement, asked: Statement) -> str:
    if contradicts_itself(stated) and not contradicts_itself(asked):
        return CONTRADICTORY
    if sorted(type_ for _, type_ in stated.variables) != sorted(type_ for _, type_ in asked.variables):
        return "it has other variables than the one asked for"
    return "it is not the one asked for"
