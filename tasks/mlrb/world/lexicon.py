"""The words of the small English: names, nouns, verbs, and their forms."""

from dataclasses import dataclass
from typing import Literal

Gender = Literal["masculine", "feminine", "neuter", "open"]
"""What a reflexive of it looks like in the singular; `open` nouns take either of himself and herself."""


@dataclass(frozen=True)
class Noun:
    """A noun in both numbers; a name has no plural."""

    singular: str
    plural: str
    gender: Gender
    irregular: bool = False

    @property
    def is_name(self) -> bool:
        """Whether it stands without a determiner."""
        return not self.plural

    @property
    def animate(self) -> bool:
        """Whether it can feel and know."""
        return self.gender != "neuter"


@dataclass(frozen=True)
class Verb:
    """A verb in the forms that English tells apart."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str


def _plural(noun: str) -> str:
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"


def _nouns(words: str, gender: Gender) -> tuple[Noun, ...]:
    return tuple(Noun(word, _plural(word), gender) for word in words.split())


def _irregular(pairs: str) -> tuple[Noun, ...]:
    split = (pair.split("/") for pair in pairs.split())
    return tuple(Noun(one, many, _gender(gender), irregular=True) for one, many, gender in split)


def _gender(letter: str) -> Gender:
    genders: dict[str, Gender] = {"m": "masculine", "f": "feminine", "o": "open", "n": "neuter"}
    return genders[letter]


def _names(words: str, gender: Gender) -> tuple[Noun, ...]:
    return tuple(Noun(word, "", gender) for word in words.split())


_DOUBLED = {"forget": "forgett", "drop": "dropp", "hit": "hitt"}


def _verb(entry: str) -> Verb:
    """A regular verb from its base, an irregular one from `base/past/participle`."""
    base, *rest = entry.split("/")
    third = _plural(base)
    stem = base[:-1] if base.endswith("e") and not base.endswith("ee") else base
    gerund = _DOUBLED.get(base, stem) + "ing"
    if rest:
        return Verb(base, third, rest[0], rest[1], gerund)
    if base.endswith("e"):
        past = base + "d"
    elif base.endswith("y") and base[-2] not in "aeiou":
        past = base[:-1] + "ied"
    else:
        past = base + "ed"
    return Verb(base, third, past, past, gerund)


def _verbs(entries: str) -> tuple[Verb, ...]:
    return tuple(_verb(entry) for entry in entries.split())


NAMES = _names(
    "Robert Carlos Mark Todd Paul Daniel Kevin Steven Gary Brian Peter Henry Walter Craig Martin Frank Oscar Victor",
    "masculine",
) + _names(
    "Mary Susan Tina Rose Linda Carla Judy Karen Diane Ruth Nancy Alice Emma Helen Clara Julia Rachel Vera",
    "feminine",
)

PEOPLE = (
    _nouns("boy king actor waiter uncle brother nephew monk", "masculine")
    + _nouns("girl queen actress waitress aunt sister niece nun", "feminine")
    + _nouns(
        "doctor teacher student driver guest pilot lawyer singer farmer baker soldier customer senator dancer "
        "painter writer neighbor cousin friend patient",
        "open",
    )
)
IRREGULAR_PEOPLE = _irregular("man/men/m woman/women/f child/children/o person/people/o")

THINGS = _nouns(
    "book picture letter car boat chair lamp cup box window plate report story key coin hat flower basket bottle "
    "painting guitar map ticket carpet",
    "neuter",
)

TRANSITIVE = _verbs(
    "admire help visit watch follow annoy respect trust thank insult praise protect ignore call remind impress "
    "alarm charm comfort disturb greet observe question scare attack defend see/saw/seen hurt/hurt/hurt "
    "forget/forgot/forgotten"
)
"""What people do to people and to themselves."""

FEELING = _verbs("annoy impress remind alarm comfort disturb scare charm")
"""What things, too, do to people."""

HANDLING = _verbs(
    "paint clean carry move open sell/sold/sold buy/bought/bought find/found/found lose/lost/lost "
    "bring/brought/brought hide/hid/hidden break/broke/broken draw/drew/drawn describe drop/dropped/dropped touch"
)
"""What people do to things."""

INTRANSITIVE = _verbs(
    "sleep/slept/slept arrive smile laugh cry work sing/sang/sung walk wait listen cough vanish hesitate complain "
    "argue return fall/fell/fallen travel"
)

CLAUSAL = _verbs("remember discover reveal learn understand/understood/understood explain know/knew/known notice")
"""Verbs that take both a that-clause and an embedded question."""

REPORTING = _verbs("think/thought/thought say/said/said believe imagine claim explain remember notice")
"""Verbs that take a that-clause."""

ADJECTIVES = ("young", "old", "tall", "small", "clever", "quiet", "famous", "tired", "happy", "strange")
MODALS = ("will", "would", "can", "could", "might", "should")
ADVERBS = ("probably", "really", "often", "clearly", "certainly")
RELATIONS = _nouns("friend cousin neighbor teacher guest driver", "open") + _nouns("niece sister", "feminine")
"""People who are somebody's: `the niece of the doctors`."""
