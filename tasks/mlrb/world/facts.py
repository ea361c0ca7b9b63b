"""The base of facts: invented things of 57 subjects, each with a few properties that are said in several ways.

A fact's role decides in which form a text may show it. All facts are stated; only those in `practice` are also asked
as a question with four options. Those in `dev` and `test` are asked by the grader alone, so a model must find the
answer in what it has read, and the form in other questions.
"""

import functools
import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.mlrb.world.names import invented
from tasks.mlrb.world.subjects import SUBJECTS

Role = Literal["practice", "dev", "test"]
ROLES: tuple[tuple[Role, float], ...] = (("practice", 0.4), ("dev", 0.2), ("test", 0.4))
PER_SUBJECT = 40
"""Facts of each subject unless another number is asked for."""
PROPERTIES = 4
"""Facts of each thing."""


@dataclass(frozen=True)
class Relation:
    """A property that things have, with its values and the ways to say and to ask it."""

    name: str
    values: tuple[str, ...]
    statements: tuple[str, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True)
class Fact:
    """A thing of a subject has a value."""

    subject: str
    thing: str
    relation: Relation
    value: str
    role: Role

    def stated(self, way: int) -> str:
        """The fact as a sentence, in one of the ways of its relation."""
        return _filled(self.relation.statements[way % len(self.relation.statements)], self)

    def asked(self, way: int) -> str:
        """The fact as a question that ends in a question mark."""
        return _filled(self.relation.questions[way % len(self.relation.questions)], self)

    def distractors(self, rng: random.Random, count: int = 3) -> list[str]:
        """Other values of the same relation."""
        return rng.sample([value for value in self.relation.values if value != self.value], count)


def _filled(pattern: str, fact: Fact) -> str:
    return pattern.replace("{x}", fact.thing).replace("{v}", fact.value)


def _relation(name: str, values: str, statements: Sequence[str], questions: Sequence[str]) -> Relation:
    return Relation(name, tuple(values.split()), tuple(statements), tuple(questions))


RELATIONS = (
    _relation(
        "colour",
        "red blue green yellow white black brown purple",
        ("The {x} is {v}.", "Every {x} is {v} in colour.", "The colour of the {x} is {v}."),
        ("What colour is the {x}?", "Which colour does the {x} have?"),
    ),
    _relation(
        "place",
        "Avenia Borduria Caspara Dolmeria Estovia Farlonia Gordova Hestia",
        ("The {x} comes from {v}.", "People found the first {x} in {v}.", "The home of the {x} is {v}."),
        ("Where does the {x} come from?", "What is the home of the {x}?"),
    ),
    _relation(
        "finder",
        "Abbot Barlow Crane Dalton Easton Fowler Garner Hobson",
        ("{v} described the {x} first.", "The {x} was described by {v}.", "We know the {x} thanks to {v}."),
        ("Who described the {x}?", "Thanks to whom do we know the {x}?"),
    ),
    _relation(
        "material",
        "iron copper glass stone wood leather paper silver",
        ("The {x} is made of {v}.", "One needs {v} to make the {x}.", "The {x} consists of {v}."),
        ("What is the {x} made of?", "What does the {x} consist of?"),
    ),
    _relation(
        "count",
        "two three four five six seven eight nine",
        ("The {x} has {v} parts.", "There are {v} parts in the {x}.", "The parts of the {x} are {v}."),
        ("How many parts does the {x} have?", "How many parts are there in the {x}?"),
    ),
    _relation(
        "purpose",
        "cooking building hunting healing weaving fishing trading teaching",
        ("The {x} is used for {v}.", "People use the {x} for {v}.", "The {x} serves {v}."),
        ("What is the {x} used for?", "What do people use the {x} for?"),
    ),
    _relation(
        "month",
        "January March April June July August October November",
        ("The {x} appears in {v}.", "In {v} one sees the {x}.", "The month of the {x} is {v}."),
        ("When does the {x} appear?", "What is the month of the {x}?"),
    ),
    _relation(
        "class",
        "alpha beta gamma delta kappa sigma omega theta",
        ("The {x} belongs to class {v}.", "Class {v} includes the {x}.", "The class of the {x} is {v}."),
        ("To which class does the {x} belong?", "Which class includes the {x}?"),
    ),
)


@functools.lru_cache(maxsize=8)
def fact_base(seed: int, per_subject: int = PER_SUBJECT) -> tuple[Fact, ...]:
    """All facts of that seed; a subject's stand together, a thing's too."""
    rng = random.Random(f"{seed}:facts")
    things_each = -(-per_subject // PROPERTIES)
    names = iter(invented(seed, things_each * len(SUBJECTS)))
    facts: list[Fact] = []
    for subject in SUBJECTS:
        own = [fact for _ in range(things_each) for fact in _facts_of(seed, subject, next(names), rng)]
        facts += own[:per_subject]
    return tuple(facts)


def _facts_of(seed: int, subject: str, thing: str, rng: random.Random) -> list[Fact]:
    chosen = rng.sample(RELATIONS, PROPERTIES)
    return [
        Fact(subject, thing, relation, rng.choice(relation.values), role_of(seed, thing, relation.name))
        for relation in chosen
    ]


def role_of(seed: int, *words: str) -> Role:
    """The role of whatever those words name together: the same every time, and spread as `ROLES` says."""
    digest = hashlib.sha256(":".join((str(seed), *words)).encode()).digest()
    place = int.from_bytes(digest[:4], "big") / 2**32
    for role, share in ROLES:
        if place < share:
            return role
        place -= share
    return ROLES[-1][0]
