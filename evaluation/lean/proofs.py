"""Proof terms of `exact` and of linarith's list: names, ⟨…⟩, projections, `by`, and a few lemmas of mathlib's."""

from typing import TYPE_CHECKING

from evaluation.lean.elaborate import substituted, term
from evaluation.lean.errors import Budget, TacticFailed
from evaluation.lean.script import Proof
from evaluation.lean.syntax import Expr

if TYPE_CHECKING:
    from evaluation.lean.tactics import Goal

ZERO, TWO = 0, 2


def check(proof: Proof, goal: "Goal", target: Expr, budget: Budget) -> None:
    """Have a proof term show a claim; `TacticFailed` where it doesn't."""
    from dataclasses import replace

    from evaluation.lean import tactics

    budget.spend(10)
    match proof.op:
        case "by":
            tactics.prove(replace(goal, target=target), proof.tactics, budget)
        case "refl":
            tactics.refl(target, budget)
        case "pair":
            _check_pair(proof, goal, target, budget)
        case _:
            if infer(proof, goal, budget, _type_in(target)) != target:
                raise TacticFailed("exact: it shows something else than the goal")


def _check_pair(proof: Proof, goal: "Goal", target: Expr, budget: Budget) -> None:
    first, rest = proof.args[0], proof.args[1:]
    if not rest:
        raise TacticFailed("exact: ⟨…⟩ needs two parts")
    # ⟨a, b, c⟩ is ⟨a, ⟨b, c⟩⟩.
    second = rest[0] if len(rest) == 1 else Proof("pair", args=rest)
    match target.op:
        case "and":
            check(first, goal, target.args[0], budget)
            check(second, goal, target.args[1], budget)
        case "iff":
            one, other = target.args
            check(first, goal, Expr("imp", (one, other)), budget)
            check(second, goal, Expr("imp", (other, one)), budget)
        case "dvd":
            below, above = target.args
            witness = _term(first, goal, below.type)
            check(second, goal, Expr("eq", (above, Expr("mul", (below, witness), type=below.type))), budget)
        case _:
            raise TacticFailed("exact: ⟨…⟩ shows an ∧, an ↔ or a ∣")


def infer(proof: Proof, goal: "Goal", budget: Budget, type_: str = "") -> Expr:
    """What a proof term shows; `type_` is for numbers in it that nothing else gives a type."""
    budget.spend(10)
    match proof.op:
        case "name":
            claim = goal.claim(proof.name)
            if claim is None:
                return _lemma(proof, goal, budget, type_)
            for argument in proof.args:
                claim = _applied(claim, argument, goal, budget)
            return claim
        case "left" | "right" | "mp" | "mpr" | "symm":
            return _projection(proof.op, infer(proof.args[0], goal, budget, type_))
    raise TacticFailed("what this shows is not known from itself")


def _applied(claim: Expr, argument: Proof, goal: "Goal", budget: Budget) -> Expr:
    if claim.op == "imp":
        check(argument, goal, claim.args[0], budget)
        return claim.args[1]
    if claim.op == "all":
        return substituted(claim.args[0], claim.name, _term(argument, goal, claim.type))
    raise TacticFailed("a hypothesis is applied that is no implication and no ∀")


def _projection(part: str, claim: Expr) -> Expr:
    match part, claim.op:
        case "left", "and":
            return claim.args[0]
        case "right", "and":
            return claim.args[1]
        case (("mp" | "left"), "iff"):
            return Expr("imp", claim.args)
        case (("mpr" | "right"), "iff"):
            return Expr("imp", claim.args[::-1])
        case "symm", ("eq" | "iff"):
            return Expr(claim.op, claim.args[::-1])
    raise TacticFailed(f"a hypothesis has no part .{part}")


def _lemma(proof: Proof, goal: "Goal", budget: Budget, type_: str) -> Expr:
    """What one of the known lemmas shows of its arguments."""
    match proof.name, len(proof.args):
        case "sq_nonneg", 1:
            base = _ordered(_term(proof.args[0], goal, type_))
            square = Expr("pow", (base, Expr("num", value=TWO, type="ℕ")), type=base.type)
            return Expr("le", (_zero(base.type), square))
        case "mul_self_nonneg", 1:
            base = _ordered(_term(proof.args[0], goal, type_))
            return Expr("le", (_zero(base.type), Expr("mul", (base, base), type=base.type)))
        case (("mul_pos" | "mul_nonneg"), 2):
            return _product_sign(proof, goal, budget, type_)
        case (("dvd_mul_right" | "dvd_mul_left"), 2):
            one, other = (_term(argument, goal, type_) for argument in proof.args)
            if one.type != other.type:
                raise TacticFailed(f"{proof.name}: {one.type} and {other.type} are multiplied")
            sides = (one, other) if proof.name == "dvd_mul_right" else (other, one)
            return Expr("dvd", (one, Expr("mul", sides, type=one.type)))
        case (("le_refl" | "dvd_refl"), 1):
            side = _term(proof.args[0], goal, type_)
            return Expr("le" if proof.name == "le_refl" else "dvd", (side, side))
    raise TacticFailed(f"{proof.name!r} is not known")


def _product_sign(proof: Proof, goal: "Goal", budget: Budget, type_: str) -> Expr:
    op = "lt" if proof.name == "mul_pos" else "le"
    one, other = (infer(argument, goal, budget, type_) for argument in proof.args)
    signs = [claim for claim in (one, other) if claim.op == op and claim.args[0] == _zero(claim.args[0].type)]
    if len(signs) < 2 or one.args[1].type != other.args[1].type:
        raise TacticFailed(f"{proof.name}: it needs 0 {'<' if op == 'lt' else '≤'} of both factors")
    product = Expr("mul", (one.args[1], other.args[1]), type=one.args[1].type)
    return Expr(op, (_zero(product.type), product))


def _term(proof: Proof, goal: "Goal", type_: str) -> Expr:
    """An argument that is a term."""
    if proof.term is None:
        raise TacticFailed("a proof stands where a term belongs")
    found = term(proof.term, goal.variables, type_)
    if type_ and found.type != type_:
        raise TacticFailed(f"a term of {found.type} stands where one of {type_} belongs")
    return found


def _ordered(base: Expr) -> Expr:
    if base.type == "ℕ":
        raise TacticFailed("this lemma is one of ordered rings, and ℕ is none")
    return base


def _zero(type_: str) -> Expr:
    return Expr("num", value=ZERO, type=type_)


def _type_in(target: Expr) -> str:
    """The type of the terms of a relation."""
    return target.args[0].type if target.args else ""
