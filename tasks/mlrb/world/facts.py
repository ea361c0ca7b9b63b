"""The base of facts: invented things of 57 subjects, each with a few properties that are said in several ways.

A fact's role decides in which form a text may show it. All facts are stated; only those in `practice` are also asked
as a question with four options. Those in `dev` and `test` are asked by the grader alone, so a model must find the
answer in what it has read, and the form in other questions.
"""

import functools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.mlrb.world.names import invented
from tasks.mlrb.world.subjects import SUBJECTS

Role = Literal["practice", "dev", "test"]
ROLES: tuple[Role, ...] = ("practice", "test", "dev", "practice", "test")
"""Every five facts of a subject have these roles, so each subject has some of all."""
PER_SUBJECT = 12
"""Facts of each subject unless another number is asked for; as many as a model of a million parameters learns in the
minutes of a smoke run (docs/design/world.md)."""
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
        roles = [ROLES[number % len(ROLES)] for number in range(per_subject)]
        rng.shuffle(roles)
        own = [next(names) for _ in range(things_each)]
        described = [(thing, relation) for thing in own for relation in rng.sample(RELATIONS, PROPERTIES)]
        facts += [
            Fact(subject, thing, relation, rng.choice(relation.values), role)
            for (thing, relation), role in zip(described, roles, strict=False)
        ]
    return tuple(facts)
