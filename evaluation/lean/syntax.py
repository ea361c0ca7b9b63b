"""The words of the subset, its expressions, and a parser for these."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from evaluation.lean.errors import ParseFailed

TYPES = {"ℕ": "ℕ", "ℤ": "ℤ", "ℚ": "ℚ", "ℝ": "ℝ", "nat": "ℕ", "int": "ℤ", "rat": "ℚ", "real": "ℝ"}
TACTICS = ("norm_num", "ring", "linarith", "intro", "intros", "exact", "split", "constructor", "refl", "rfl")
KEYWORDS = frozenset({*TYPES, *TACTICS, "theorem", "lemma", "by", "begin", "end", "true", "false", "True", "False"})
LONGEST_SCRIPT = 20_000
LONGEST_NUMERAL = 300
DEEPEST = 60
"""Levels of brackets and prefixes, and parts of a chain that nests to the right."""
LONGEST_CHAIN = 150
"""Summands of a sum, factors of a product."""
MOST_WORDS = 4000
_LETTERS = "A-Za-zα-κμ-ωΑ-ΟΡΤ-Ω_"
_WORD = re.compile(
    rf"(?P<space>\s+)|(?P<number>\d+)|(?P<name>[{_LETTERS}][{_LETTERS}0-9₀-₉']*|[ℕℤℚℝ])"
    r"|(?P<sign>:=|<;>|->|<->|<=|>=|/\\|\\/|[-+*/%^=≠<≤>≥∣∧∨→↔¬∀()\[\]{}⟨⟩:,;.])"
)
_SAME = {"->": "→", "<->": "↔", "<=": "≤", ">=": "≥", "/\\": "∧", "\\/": "∨"}
RELATIONS = {"=": "eq", "≠": "ne", "<": "lt", "≤": "le", ">": "gt", "≥": "ge", "∣": "dvd"}
_SUMS = {"+": "add", "-": "sub"}
_PRODUCTS = {"*": "mul", "/": "div", "%": "mod"}


@dataclass(frozen=True)
class Expr:
    """A term or a proposition.

    Terms: num, var, neg, add, sub, mul, div, mod, pow, as (a type ascription, gone after elaboration). Propositions:
    eq, ne, lt, le, gt, ge, dvd, and, or, imp, iff, not, all, true, false.
    """

    op: str
    args: tuple["Expr", ...] = ()
    value: int = 0
    name: str = ""
    type: str = ""
    """Of a term: filled in by elaboration. Of `all`: that of its variable."""


@dataclass(frozen=True)
class Word:
    """A piece of a script."""

    kind: str
    text: str
    starts_line: bool = field(default=False, compare=False)


END = Word("end", "the end")


def words(script: str) -> list[Word]:
    """The words of a script without its comments; `ParseFailed` names a character that has no meaning here."""
    if len(script) > LONGEST_SCRIPT:
        raise ParseFailed(f"it is longer than {LONGEST_SCRIPT:,} characters")
    found = list(_words(without_comments(script)))
    if len(found) > MOST_WORDS:
        raise ParseFailed(f"it has more than {MOST_WORDS:,} words")
    return found


def _words(text: str) -> Iterator[Word]:
    place, starts_line = 0, True
    while place < len(text):
        match = _WORD.match(text, place)
        if match is None:
            raise ParseFailed(f"the character U+{ord(text[place]):04X} has no meaning here")
        place = match.end()
        kind, piece = str(match.lastgroup), match.group()
        if kind == "space":
            starts_line = starts_line or "\n" in piece
            continue
        if kind == "number" and len(piece) > LONGEST_NUMERAL:
            raise ParseFailed(f"a number has more than {LONGEST_NUMERAL} digits")
        yield Word(kind, _SAME.get(piece, piece), starts_line)
        starts_line = False


def without_comments(script: str) -> str:
    """The script with a space for each comment: `-- …` to the end of its line, `/- … -/` nested."""
    kept: list[str] = []
    place, depth = 0, 0
    while place < len(script):
        pair = script[place : place + 2]
        if pair == "/-":
            depth, place = depth + 1, place + 2
        elif depth and pair == "-/":
            depth, place = depth - 1, place + 2
            kept.append(" ")
        elif not depth and pair == "--":
            end = script.find("\n", place)
            place = len(script) if end < 0 else end
        else:
            if not depth or script[place] == "\n":
                kept.append(script[place])
            place += 1
    if depth:
        raise ParseFailed("a comment does not end")
    return "".join(kept)


class Reader:
    """Reads expressions off a list of words; `script` builds on it."""

    def __init__(self, found: list[Word]) -> None:
        self._words = found
        self._place = 0
        self._depth = 0

    @property
    def next(self) -> Word:
        """The word to be read."""
        return self._words[self._place] if self._place < len(self._words) else END

    def sees(self, *texts: str) -> bool:
        """Whether the next word is one of these."""
        return self.next is not END and self.next.text in texts

    def take(self) -> Word:
        """Read one word."""
        word = self.next
        self._place += 1
        return word

    def skip(self, text: str) -> bool:
        """Read the next word if it is this one."""
        if self.sees(text):
            self._place += 1
            return True
        return False

    def need(self, text: str) -> None:
        """Read this word; `ParseFailed` if another stands there."""
        if not self.skip(text):
            raise ParseFailed(f"{text!r} is expected before {self.next.text!r}")

    def name(self) -> str:
        """Read a name that is no keyword."""
        word = self.take()
        if word.kind != "name" or word.text in KEYWORDS:
            raise ParseFailed(f"a name is expected where {word.text!r} stands")
        return word.text

    def type(self) -> str:
        """Read a type."""
        word = self.take()
        if word.text not in TYPES:
            raise ParseFailed(f"{word.text!r} is no type here: ℕ, ℤ, ℚ or ℝ")
        return TYPES[word.text]

    def expression(self) -> Expr:
        """Read a proposition or a term, the loosest binding first."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise ParseFailed("it is nested too deeply")
        try:
            return self._for_all() if self.sees("∀") else self._iff()
        finally:
            self._depth -= 1

    def _for_all(self) -> Expr:
        self.need("∀")
        bracket = self.skip("(")
        names = [self.name()]
        while not self.sees(":"):
            names.append(self.name())
        self.need(":")
        type_ = self.type()
        if bracket:
            self.need(")")
        self.need(",")
        body = self.expression()
        for name in reversed(names):
            body = Expr("all", (body,), name=name, type=type_)
        return body

    def _iff(self) -> Expr:
        left = self._implies()
        return Expr("iff", (left, self._implies())) if self.skip("↔") else left

    def _implies(self) -> Expr:
        parts = [self._or()]
        while self.skip("→"):
            parts.append(self.expression() if self.sees("∀") else self._or())
        return _to_the_right("imp", parts)

    def _or(self) -> Expr:
        parts = [self._and()]
        while self.skip("∨"):
            parts.append(self._and())
        return _to_the_right("or", parts)

    def _and(self) -> Expr:
        parts = [self._not()]
        while self.skip("∧"):
            parts.append(self._not())
        return _to_the_right("and", parts)

    def _not(self) -> Expr:
        signs = 0
        while self.skip("¬"):
            signs += 1
            if signs > DEEPEST:
                raise ParseFailed("it is nested too deeply")
        inner = self._for_all() if signs and self.sees("∀") else self._relation()
        for _ in range(signs):
            inner = Expr("not", (inner,))
        return inner

    def _relation(self) -> Expr:
        left = self.term()
        if not self.sees(*RELATIONS):
            return left
        relation = RELATIONS[self.take().text]
        right = self.term()
        if self.sees(*RELATIONS):
            raise ParseFailed(f"{self.next.text!r} follows a relation; relations do not chain")
        return Expr(relation, (left, right))

    def term(self) -> Expr:
        """Read a sum."""
        return self._chain(_SUMS, self._product)

    def _product(self) -> Expr:
        return self._chain(_PRODUCTS, self._prefixed)

    def _chain(self, signs: Mapping[str, str], part: Callable[[], Expr]) -> Expr:
        left = part()
        for _ in range(LONGEST_CHAIN):
            if not self.sees(*signs):
                return left
            left = Expr(signs[self.take().text], (left, part()))
        raise ParseFailed(f"a sum or product has more than {LONGEST_CHAIN} parts")

    def _prefixed(self) -> Expr:
        signs = 0
        while self.skip("-"):
            signs += 1
            if signs > DEEPEST:
                raise ParseFailed("it is nested too deeply")
        inner = self._power()
        for _ in range(signs):
            inner = Expr("neg", (inner,))
        return inner

    def _power(self) -> Expr:
        parts = [self.atom()]
        while self.skip("^"):
            parts.append(self.atom())
        return _to_the_right("pow", parts)

    def atom(self) -> Expr:
        """Read a number, a name or something in brackets."""
        if self.skip("("):
            inner = self.expression()
            if self.skip(":"):
                inner = Expr("as", (inner,), type=self.type())
            self.need(")")
            return inner
        if self.sees("true", "True", "false", "False"):
            return Expr(self.take().text.lower())
        if self.next.kind == "number":
            return Expr("num", value=int(self.take().text))
        return Expr("var", name=self.name())


def _to_the_right(op: str, parts: list[Expr]) -> Expr:
    if len(parts) > DEEPEST:
        raise ParseFailed("it is nested too deeply")
    whole = parts[-1]
    for part in reversed(parts[:-1]):
        whole = Expr(op, (part, whole))
    return whole
