"""Problems drawn from the templates: held-out ones are new combinations of what was seen, never the same statement."""

import re
from dataclasses import dataclass
from random import Random

from tasks.mlrb.math_reasoning.templates import TEMPLATES, Template

Row = dict[str, str]
"""The hub's columns: name, informal_statement, informal_proof, formal_proof."""

PEOPLE = (
    "Anna", "Boris", "Clara", "David", "Emma", "Felix", "Greta", "Hugo", "Irene", "Jonas", "Katja", "Leo", "Maria",
    "Nils", "Olga", "Paul",
)  # fmt: skip
THINGS = (
    "apples", "books", "candles", "dates", "eggs", "figs", "grapes", "hats", "jars", "kites", "lemons", "marbles",
    "nuts", "pears", "ribbons", "stamps",
)  # fmt: skip
VARIABLES = ("x", "y", "z", "m", "n", "t", "u")
WORDS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
DISTRACTORS = (
    "{C} would rather have {n} {others}.",
    "It is {n} minutes past {m}.",
    "{C} read this in a book of {n} pages.",
    "This is exercise {n} of {m}.",
    "Yesterday {C} counted {n} {others}.",
    "The weather is fine today.",
)
NUMERAL = re.compile(r"\d+")
WRITTEN_OUT = 0.25
"""The share of statements whose small numbers are words."""
DISTRACTED = 0.5
"""The share of statements with a sentence that has nothing to do with it."""


@dataclass(frozen=True)
class Problem:
    """A row, and what it says."""

    row: Row

    claim: str
    """The Lean script with neither the theorem's name nor those of its variables."""

    @property
    def numerals(self) -> set[str]:
        """Numbers of the Lean script."""
        return set(NUMERAL.findall(self.claim))


def problems(seed: int, *, train: int, dev: int, test: int) -> tuple[list[Row], list[Row], list[Row]]:
    """Rows of the three splits, shuffled, each with as many of every template as of any other, give or take one.

    A statement occurs once in all splits together. Held-out rows about people and things pair them as no training row
    does; all their numbers occur in training.
    """
    rng = Random(f"math_reasoning/{seed}")
    used: set[str] = set()
    seen = _drawn(rng, train, used, held_out=False, known=None)
    known = {numeral for one in seen for numeral in one.numerals}
    held = _drawn(rng, dev + test, used, held_out=True, known=known)
    rng.shuffle(held)
    return _named(seen, "train"), _named(held[:dev], "dev"), _named(held[dev:], "test")


def _named(drawn: list[Problem], split: str) -> list[Row]:
    return [{"name": f"{split}_{number:05}", **one.row} for number, one in enumerate(drawn)]


def _drawn(rng: Random, count: int, used: set[str], *, held_out: bool, known: set[str] | None) -> list[Problem]:
    found: list[Problem] = []
    for number in range(count):
        # A template whose numbers are used up leaves its place to the next one.
        for other in range(len(TEMPLATES)):
            one = _new(rng, TEMPLATES[(number + other) % len(TEMPLATES)], used, held_out, known)
            if one is not None:
                used.add(one.claim)
                found.append(one)
                break
    if len(found) < count:
        raise ValueError(f"the templates give no more than {len(found):,} of {count:,} problems")
    rng.shuffle(found)
    return found


def _new(rng: Random, template: Template, used: set[str], held_out: bool, known: set[str] | None) -> Problem | None:
    for _ in range(60):
        one = _problem(rng, template, held_out)
        if one.claim not in used and (known is None or one.numerals <= known):
            return one
    return None


def _problem(rng: Random, template: Template, held_out: bool) -> Problem:
    numbers = {name: str(number) for name, number in template.draw(rng).items()}
    text = rng.choice(template.statements)
    first, second, things = _company(rng, held_out)
    v, w = rng.sample(VARIABLES, 2)
    others = {"A": first, "B": second, "things": things, "v": v, "w": w}
    shown = {name: _written(number) for name, number in numbers.items()} if _chance(rng, WRITTEN_OUT) else numbers
    row = {
        "informal_statement": _distracted(rng, text.format(**shown, **others)),
        "informal_proof": rng.choice(template.proofs).format(**numbers, **others),
        "formal_proof": f"theorem {template.name} {template.lean.format(**numbers, **others)}",
    }
    return Problem(row, template.lean.format(**numbers, v="x", w="y"))


def _company(rng: Random, held_out: bool) -> tuple[str, str, str]:
    """Two people and a kind of thing. Whether each of them goes with the thing says which side the three are on."""
    while True:
        people, thing = rng.sample(range(len(PEOPLE)), 2), rng.randrange(len(THINGS))
        if all(((person + thing) % 5 == 0) == held_out for person in people):
            return PEOPLE[people[0]], PEOPLE[people[1]], THINGS[thing]


def _written(number: str) -> str:
    return WORDS[int(number) - 1] if 1 <= int(number) <= len(WORDS) else number


def _distracted(rng: Random, text: str) -> str:
    """The statement, at times with a sentence before or behind it that says nothing."""
    if not _chance(rng, DISTRACTED):
        return text
    n, m = rng.randint(2, 60), rng.randint(2, 60)
    said = rng.choice(DISTRACTORS).format(C=rng.choice(PEOPLE), n=n, m=m, others=rng.choice(THINGS))
    return f"{said} {text}" if _chance(rng, 0.5) else f"{text} {said}"


def _chance(rng: Random, share: float) -> bool:
    return rng.random() < share
