"""A script of the subset as a value: one theorem, what it supposes, and its tactics."""

from dataclasses import dataclass

from evaluation.lean.errors import ParseFailed
from evaluation.lean.syntax import END, KEYWORDS, TYPES, Expr, Reader, words

MOST_BINDERS = 60
MOST_TACTICS = 200
_PROJECTIONS = {"1": "left", "2": "right", "left": "left", "right": "right", "mp": "mp", "mpr": "mpr", "symm": "symm"}


@dataclass(frozen=True)
class Statement:
    """What a theorem claims."""

    name: str
    variables: tuple[tuple[str, str], ...]
    """Names and types."""
    hypotheses: tuple[tuple[str, Expr], ...]
    goal: Expr


@dataclass(frozen=True)
class Proof:
    """A proof term: name (with term or proof arguments), pair, term, by, or a projection of another."""

    op: str
    name: str = ""
    args: tuple["Proof", ...] = ()
    term: Expr | None = None
    """What stands there, read as an expression; whether it is a term is known only when its use is."""
    tactics: tuple["Tactic", ...] = ()


@dataclass(frozen=True)
class Tactic:
    """One step of a proof."""

    name: str
    names: tuple[str, ...] = ()
    """Of `intro`."""
    proofs: tuple[Proof, ...] = ()
    """Of `exact` and `linarith`."""
    block: tuple["Tactic", ...] = ()
    """Of `{ … }`, which closes one goal, and of `;`: the two steps, the second for each goal the first leaves."""


@dataclass(frozen=True)
class Script:
    """A theorem and its proof."""

    statement: Statement
    tactics: tuple[Tactic, ...]


def parse_script(text: str) -> Script:
    """Read a whole script; `ParseFailed` says what is wrong."""
    reader = ScriptReader(words(text))
    statement = reader.statement()
    reader.need(":=")
    tactics = reader.proof()
    if reader.next is not END:
        raise ParseFailed(f"{reader.next.text!r} follows the proof; one theorem is asked for")
    return Script(statement, tactics)


def parse_statement(text: str) -> Statement:
    """Read `theorem NAME … : GOAL`, with or without a proof behind it, which isn't looked at."""
    return ScriptReader(words(text)).statement()


class ScriptReader(Reader):
    """Reads statements and proofs."""

    def statement(self) -> Statement:
        """Read `theorem NAME binders : goal`."""
        if not (self.skip("theorem") or self.skip("lemma")):
            raise ParseFailed(f"it begins with {self.next.text!r}, not with theorem")
        name = self.name()
        while self.skip("."):
            name += f".{self.name()}"
        variables: list[tuple[str, str]] = []
        hypotheses: list[tuple[str, Expr]] = []
        while self.sees("(", "{"):
            self._binder(variables, hypotheses)
        self.need(":")
        goal = self.expression()
        bound = [one for one, _ in variables] + [one for one, _ in hypotheses]
        if len(set(bound)) < len(bound):
            raise ParseFailed("a name is bound twice")
        if len(bound) > MOST_BINDERS:
            raise ParseFailed(f"it binds more than {MOST_BINDERS} names")
        return Statement(name, tuple(variables), tuple(hypotheses), goal)

    def _binder(self, variables: list[tuple[str, str]], hypotheses: list[tuple[str, Expr]]) -> None:
        closing = ")" if self.take().text == "(" else "}"
        names = [self.name()]
        while not self.sees(":"):
            names.append(self.name())
        self.need(":")
        if self.next.text in TYPES:
            type_ = self.type()
            variables += [(name, type_) for name in names]
        else:
            claim = self.expression()
            hypotheses += [(name, claim) for name in names]
        self.need(closing)

    def proof(self) -> tuple[Tactic, ...]:
        """Read `by tactics` or `begin tactics end`."""
        if self.skip("begin"):
            tactics = self._sequence("end")
            self.need("end")
            return tactics
        self.need("by")
        return self._sequence()

    def _sequence(self, *closing: str) -> tuple[Tactic, ...]:
        """Tactics with a comma or a new line between them, up to a closing word or the end."""
        found: list[Tactic] = []
        while self.next is not END and not self.sees(*closing):
            if found and not self.skip(",") and not self.next.starts_line:
                raise ParseFailed(f"{self.next.text!r} follows a tactic; a comma or a new line is expected")
            if self.next is END or self.sees(*closing):
                break
            found.append(self._tactic())
            if len(found) > MOST_TACTICS:
                raise ParseFailed(f"it has more than {MOST_TACTICS} tactics")
        return tuple(found)

    def _tactic(self) -> Tactic:
        step = self._one_tactic()
        while self.skip(";") or self.skip("<;>"):
            step = Tactic(";", block=(step, self._one_tactic()))
        return step

    def _one_tactic(self) -> Tactic:
        self._depth += 1
        if self._depth > 20:
            raise ParseFailed("it is nested too deeply")
        try:
            return self._read_tactic()
        finally:
            self._depth -= 1

    def _read_tactic(self) -> Tactic:
        word = self.take()
        match word.text:
            case "{":
                block = self._sequence("}")
                self.need("}")
                return Tactic("{", block=block)
            case "norm_num" | "ring":
                return Tactic(word.text)
            case "split" | "constructor":
                return Tactic("split")
            case "refl" | "rfl":
                return Tactic("refl")
            case "intro" | "intros":
                return Tactic("intro", names=self._names())
            case "exact":
                return Tactic("exact", proofs=(self._proof(),))
            case "linarith":
                return Tactic("linarith", proofs=self._listed())
        raise ParseFailed(f"{word.text!r} is no tactic here")

    def _names(self) -> tuple[str, ...]:
        found = []
        while self.next.kind == "name" and not self.next.starts_line:
            found.append(self.name())
        if not found:
            raise ParseFailed("intro needs a name")
        return tuple(found)

    def _listed(self) -> tuple[Proof, ...]:
        if not self.skip("["):
            return ()
        found = [self._proof()]
        while self.skip(","):
            found.append(self._proof())
        self.need("]")
        return tuple(found)

    def _proof(self) -> Proof:
        """A proof term: `by` a tactic, or a name with what it is applied to."""
        self._depth += 1
        if self._depth > 40:
            raise ParseFailed("it is nested too deeply")
        try:
            if self.skip("by"):
                return Proof("by", tactics=(self._tactic(),))
            head = self._proof_atom()
            arguments = []
            while head.op == "name" and self._argument_follows():
                arguments.append(self._proof_atom())
            return Proof("name", head.name, tuple(arguments)) if arguments else head
        finally:
            self._depth -= 1

    def _argument_follows(self) -> bool:
        word = self.next
        if word is END or word.starts_line:
            return False
        return (
            word.text in ("(", "⟨", "rfl")
            or word.kind == "number"
            or (word.kind == "name" and word.text not in KEYWORDS)
        )

    def _proof_atom(self) -> Proof:
        if self.skip("⟨"):
            parts = [self._proof_or_term()]
            while self.skip(","):
                parts.append(self._proof_or_term())
            self.need("⟩")
            return self._projected(Proof("pair", args=tuple(parts)))
        if self.skip("rfl"):
            return Proof("refl")
        if self.sees("("):
            return self._projected(self._in_brackets())
        if self.next.kind == "number":
            return Proof("term", term=self.atom())
        name = self.name()
        return self._projected(Proof("name", name, term=Expr("var", name=name)))

    def _in_brackets(self) -> Proof:
        """`(by …)`, a proof or a term: the last where it can be read as no proof."""
        place = self._place
        self.need("(")
        try:
            inner = self._proof()
            if self.skip(")"):
                return inner
        except ParseFailed:
            pass
        self._place = place
        return Proof("term", term=self.atom())

    def _proof_or_term(self) -> Proof:
        """A part of ⟨…⟩: the witness of a divisibility is a term without brackets."""
        place = self._place
        try:
            inner = self._proof()
            if self.sees(",", "⟩"):
                return inner
        except ParseFailed:
            pass
        self._place = place
        return Proof("term", term=self.term())

    def _projected(self, proof: Proof) -> Proof:
        while self.sees("."):
            self.take()
            part = self.take().text
            if part not in _PROJECTIONS:
                raise ParseFailed(f".{part} is no projection here")
            proof = Proof(_PROJECTIONS[part], args=(proof,))
        return proof
