"""The tactics of the subset: each takes a goal and leaves the goals that it could not close, or fails.

norm_num evaluates closed statements exactly; ring compares polynomial normal forms; linarith looks for a contradiction
of the hypotheses and the negated goal by Fourier-Motzkin elimination, products being unknowns of their own; intro,
exact and split do what Lean's do; refl closes what is the same on both sides, and computes with whole numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from evaluation.lean import proofs
from evaluation.lean.elaborate import WHOLE, Variables, substituted, unfolded
from evaluation.lean.errors import Budget, TacticFailed
from evaluation.lean.evaluate import holds, is_closed, value
from evaluation.lean.linear import Constraint, constraint, contradictory
from evaluation.lean.polynomial import Polynomial, plus, polynomial, scaled
from evaluation.lean.script import Proof, Statement, Tactic
from evaluation.lean.syntax import Expr

FALSE = Expr("false")


@dataclass(frozen=True)
class Goal:
    """What is to be shown, and what may be used."""

    variables: Variables
    hypotheses: tuple[tuple[str, Expr], ...]
    """Names and claims, unfolded; the last of a name counts."""
    target: Expr
    """Unfolded: only = < ≤ ∣ and ∧ ∨ → ↔ ∀ are left."""

    def claim(self, name: str) -> Expr | None:
        """What a hypothesis says."""
        return dict(self.hypotheses).get(name)


def first_goal(statement: Statement) -> Goal:
    """The goal of an elaborated theorem."""
    hypotheses = tuple((name, unfolded(claim)) for name, claim in statement.hypotheses)
    return Goal(dict(statement.variables), hypotheses, unfolded(statement.goal))


def prove(goal: Goal, steps: Sequence[Tactic], budget: Budget) -> None:
    """Have the tactics close the goal; `TacticFailed` says where they don't."""
    left = run_all([goal], steps, budget)
    if left:
        raise TacticFailed(f"{len(left)} goal{'s are' if len(left) > 1 else ' is'} left open")


def run_all(goals: list[Goal], steps: Sequence[Tactic], budget: Budget) -> list[Goal]:
    """The goals that are left after the tactics, each of which works on the first."""
    for step in steps:
        if not goals:
            raise TacticFailed(f"{step.name}: there is no goal left")
        goals = [*apply(goals[0], step, budget), *goals[1:]]
    return goals


def apply(goal: Goal, step: Tactic, budget: Budget) -> list[Goal]:
    """The goals that one tactic leaves of one."""
    budget.spend(10)
    match step.name:
        case "{":
            if run_all([goal], step.block, budget):
                raise TacticFailed("{ … } leaves a goal open")
            return []
        case ";":
            return [left for one in apply(goal, step.block[0], budget) for left in apply(one, step.block[1], budget)]
        case "intro":
            return [_intro(goal, step.names)]
        case "split":
            return _split(goal)
        case "exact":
            proofs.check(step.proofs[0], goal, goal.target, budget)
        case "norm_num":
            _norm_num(goal.target, budget)
        case "ring":
            _ring(goal.target, budget)
        case "refl":
            refl(goal.target, budget)
        case "linarith":
            _linarith(goal, step.proofs, budget)
        case _:
            raise TacticFailed(f"{step.name} is no tactic here")
    return []


def _intro(goal: Goal, names: Sequence[str]) -> Goal:
    for name in names:
        target = goal.target
        if target.op == "imp":
            goal = replace(goal, hypotheses=(*goal.hypotheses, (name, target.args[0])), target=target.args[1])
        elif target.op == "all":
            if name in goal.variables:
                raise TacticFailed(f"intro: {name} is a variable already")
            body = substituted(target.args[0], target.name, Expr("var", name=name, type=target.type))
            goal = replace(goal, variables={**goal.variables, name: target.type}, target=body)
        else:
            raise TacticFailed("intro: the goal is no implication and no ∀")
    return goal


def _split(goal: Goal) -> list[Goal]:
    one, other = goal.target.args if len(goal.target.args) == 2 else (FALSE, FALSE)
    match goal.target.op:
        case "and":
            return [replace(goal, target=one), replace(goal, target=other)]
        case "iff":
            return [
                replace(goal, target=Expr("imp", (one, other))),
                replace(goal, target=Expr("imp", (other, one))),
            ]
    raise TacticFailed("split: the goal is no ∧ and no ↔")


def _norm_num(target: Expr, budget: Budget) -> None:
    if not is_closed(target):
        raise TacticFailed("norm_num: the goal has variables")
    if not holds(target, budget):
        raise TacticFailed("norm_num: the goal is false")


def _ring(target: Expr, budget: Budget) -> None:
    if target.op != "eq":
        raise TacticFailed("ring: the goal is no equation")
    left, right = (polynomial(side, budget) for side in target.args)
    if left != right:
        raise TacticFailed("ring: the sides have different normal forms")


def refl(target: Expr, budget: Budget) -> None:
    """Close a goal that is the same on both sides."""
    if target.op not in ("eq", "le", "dvd", "iff"):
        raise TacticFailed("refl: the goal is no =, ≤, ∣ or ↔")
    left, right = target.args
    if left == right:
        return
    computes = target.op == "eq" and left.type in WHOLE and is_closed(target)
    if not computes or value(left, budget) != value(right, budget):
        raise TacticFailed("refl: the sides are not the same")


def _linarith(goal: Goal, extra: Sequence[Proof], budget: Budget) -> None:
    known = [claim for _, claim in goal.hypotheses] + [proofs.infer(proof, goal, budget) for proof in extra]
    target = goal.target
    if target.op == "eq":
        refuted = [("lt", target.args), ("lt", target.args[::-1])]
    elif target.op in ("lt", "le"):
        refuted = [("le" if target.op == "lt" else "lt", target.args[::-1])]
    elif target == FALSE:
        refuted = []
    elif target.op == "imp" and target.args[1] == FALSE and target.args[0].op in ("lt", "le"):
        # ¬ a < b is read as b ≤ a.
        known.append(target.args[0])
        refuted = []
    else:
        raise TacticFailed("linarith: the goal is no =, <, ≤ or false")
    given = constraints(known, budget)
    for op, sides in refuted:
        if not contradictory(_with_signs([*given, *constraints([Expr(op, sides)], budget)]), budget):
            raise TacticFailed("linarith: the hypotheses and the negated goal do not contradict each other")
    if not refuted and not contradictory(_with_signs(given), budget):
        raise TacticFailed("linarith: the hypotheses do not contradict each other")


def constraints(claims: Sequence[Expr], budget: Budget) -> list[Constraint]:
    """The claims that linarith can use: =, <, ≤ and the negations of these two."""
    found = []
    for given in claims:
        claim = given
        if claim.op == "imp" and claim.args[1] == FALSE and claim.args[0].op in ("lt", "le"):
            claim = Expr("le" if claim.args[0].op == "lt" else "lt", claim.args[0].args[::-1])
        if claim.op in ("eq", "lt", "le"):
            left, right = (polynomial(side, budget) for side in claim.args)
            difference: Polynomial = plus(right, scaled(left, Fraction(-1)))
            relation = {"eq": "=", "lt": ">", "le": "≥"}[claim.op]
            found.append(constraint(difference, relation, whole=claim.args[0].type in WHOLE))
    return found


def _with_signs(given: list[Constraint]) -> list[Constraint]:
    """The constraints and what natural numbers are besides: not negative, nor are their products."""
    unknowns = {unknown for one in given for unknown, _ in one.weights}
    natural = [unknown for unknown in unknowns if all(atom.endswith(": ℕ") for atom, _ in unknown)]
    return given + [Constraint(((unknown, Fraction(1)),), Fraction(0), "≥") for unknown in natural]
