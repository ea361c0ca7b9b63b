"""A seeded speaker of a small English: phrases, verb groups and clauses that agree, bind and license as they must.

Every pair of a subject noun and a verb belongs to one part: `corpus`, `dev` or `test`. The corpus is spoken with pairs
of its own part only, so a sentence about a pair of another part cannot be in it: a model must have learned the rule.
"""

import functools
import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from tasks.mlrb.world import lexicon
from tasks.mlrb.world.lexicon import Noun, Verb

Part = Literal["corpus", "dev", "test"]
Shape = Literal["present", "past", "has", "had", "be", "was", "modal"]
AGREEING: tuple[Shape, ...] = ("present", "has", "be", "was")
"""Shapes whose first word shows the number of the subject."""
SHAPES: tuple[Shape, ...] = get_args(Shape)

_SHARES = (("corpus", 0.7), ("dev", 0.15), ("test", 0.15))


@functools.lru_cache(maxsize=65536)
def part_of(seed: int, noun: Noun, verb: Verb) -> Part:
    """The part that a subject and a verb belong to together."""
    return part_of_words(seed, noun.singular, verb.base)


def part_of_words(seed: int, *words: str) -> Part:
    """The part that words belong to together: the same every time, and spread by `_SHARES`."""
    digest = hashlib.sha256(":".join((str(seed), *words)).encode()).digest()
    place = int.from_bytes(digest[:4], "big") / 2**32
    if place < _SHARES[0][1]:
        return "corpus"
    return "dev" if place < _SHARES[0][1] + _SHARES[1][1] else "test"


@dataclass(frozen=True)
class Phrase:
    """A noun phrase, with what agreement and binding need to know of it."""

    text: str
    noun: Noun
    plural: bool = False

    @property
    def agreement(self) -> str:
        """What a reflexive of it must agree with."""
        return "plural" if self.plural else self.noun.gender


def verb_group(verb: Verb, shape: Shape, plural: bool, *, middle: str = "", modal: str = "will") -> str:
    """The finite verb with its auxiliaries; `middle` (not, ever, an adverb) stands before the main verb."""
    if shape == "present" and middle.startswith("not"):
        return _join("do" if plural else "does", middle, verb.base)
    if shape == "past" and middle.startswith("not"):
        return _join("did", middle, verb.base)
    first = {
        "present": "",
        "past": "",
        "has": "have" if plural else "has",
        "had": "had",
        "be": "are" if plural else "is",
        "was": "were" if plural else "was",
        "modal": modal,
    }[shape]
    return _join(first, middle, _main(verb, shape, plural))


def _main(verb: Verb, shape: Shape, plural: bool) -> str:
    match shape:
        case "present":
            return verb.base if plural else verb.third
        case "past":
            return verb.past
        case "has" | "had":
            return verb.participle
        case "be" | "was":
            return verb.gerund
        case "modal":
            return verb.base


def sentence(*words: str, end: str = ".") -> str:
    """The words as a written sentence."""
    text = _join(*words)
    return text[0].upper() + text[1:] + end


def _join(*words: str) -> str:
    return " ".join(word for word in words if word)


class Speaker:
    """Makes phrases of one part at random."""

    def __init__(self, seed: int, rng: random.Random) -> None:
        self.seed = seed
        self.rng = rng

    def verb(self, subject: Noun, verbs: Sequence[Verb], part: Part = "corpus") -> Verb | None:
        """A verb that this subject has in that part, or None where it has none."""
        fitting = [verb for verb in verbs if part_of(self.seed, subject, verb) == part]
        return self.rng.choice(fitting) if fitting else None

    def some_verb(self, subject: Noun, verbs: Sequence[Verb]) -> Verb:
        """A verb of the corpus, any transitive one where the list has none for this subject."""
        chosen = self.verb(subject, verbs) or self.verb(subject, lexicon.TRANSITIVE)
        assert chosen is not None  # thirty verbs, seven in ten of them in the corpus
        return chosen

    def name(self, gender: str = "") -> Phrase:
        """A person by name."""
        noun = self.rng.choice([name for name in lexicon.NAMES if gender in ("", name.gender)])
        return Phrase(noun.singular, noun)

    def described(self, nouns: Sequence[Noun], plural: bool | None = None, adjective: bool | None = None) -> Phrase:
        """A determiner and a noun, sometimes with an adjective between them."""
        many = self.rng.random() < 0.5 if plural is None else plural
        noun = self.rng.choice(nouns)
        wanted = self.rng.random() < 0.2 if adjective is None else adjective
        adj = self.rng.choice(lexicon.ADJECTIVES) if wanted else ""
        return Phrase(_join(self.determiner(many), adj, noun.plural if many else noun.singular), noun, many)

    def determiner(self, plural: bool) -> str:
        """A determiner of that number."""
        return self.rng.choice(
            ("the", "the", "these", "those", "some", "many") if plural else ("the", "the", "this", "that", "every")
        )

    def person(self, plural: bool | None = None) -> Phrase:
        """A person or people, by name or by description."""
        if not plural and self.rng.random() < 0.35:
            return self.name()
        return self.described((*lexicon.PEOPLE, *lexicon.IRREGULAR_PEOPLE * 3), plural)

    def relational(self, plural: bool | None = None, other_plural: bool | None = None) -> Phrase:
        """Somebody's relative: `the niece of the doctors`."""
        head = self.described(lexicon.RELATIONS, plural, adjective=False)
        other = self.person(other_plural)
        return Phrase(f"{head.text} of {other.text}", head.noun, head.plural)

    def with_clause(self, head: Phrase, other: Phrase | None = None, before: str = "", middle: str = "") -> Phrase:
        """The phrase with a relative clause; `before` stands before the other person of an object clause."""
        other = other or self.person()
        shape = self.rng.choice(SHAPES)
        if before or self.rng.random() < 0.5:
            inner = verb_group(self.some_verb(other.noun, lexicon.TRANSITIVE), shape, other.plural, middle=middle)
            clause = _join(before, other.text, inner)
        else:
            inner = verb_group(self.some_verb(head.noun, lexicon.TRANSITIVE), shape, head.plural, middle=middle)
            clause = _join(inner, other.text)
        return Phrase(f"{head.text} that {clause}", head.noun, head.plural)

    def subject(self) -> Phrase:
        """Whatever can be the subject of a clause."""
        kind = self.rng.random()
        if kind < 0.08:
            return self.relational()
        if kind < 0.26:
            return self.with_clause(self.person())
        return self.person()

    def reflexive(self, antecedent: Phrase) -> str:
        """The reflexive of that antecedent."""
        return reflexive(antecedent.agreement) or self.rng.choice(("himself", "herself"))

    def shape(self) -> Shape:
        """A tense and aspect."""
        return self.rng.choice(SHAPES)

    def modal(self) -> str:
        """A modal verb."""
        return self.rng.choice(lexicon.MODALS)

    def group(self, subject: Phrase, verb: Verb, *, middle: str = "") -> str:
        """A finite verb group for that subject."""
        return verb_group(verb, self.shape(), subject.plural, middle=middle, modal=self.modal())


_REFLEXIVES = {"plural": "themselves", "masculine": "himself", "feminine": "herself", "neuter": "itself"}
_PRONOUNS = {"plural": "them", "masculine": "him", "feminine": "her", "neuter": "it"}


def reflexive(agreement: str) -> str:
    """The reflexive pronoun for that agreement; empty where either of himself and herself will do."""
    return {"plural": "themselves", "masculine": "himself", "feminine": "herself", "neuter": "itself"}.get(
        agreement, ""
    )


def pronoun(agreement: str) -> str:
    """The object pronoun for that agreement; empty where either of him and her will do."""
    return _PRONOUNS.get(agreement, "")
