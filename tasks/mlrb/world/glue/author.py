"""Who writes the items: a speaker whose items turn on words that belong together in one part only.

`corpus` items may stand in training texts; `dev` and `test` items are about other pairs of subject and verb, or other
combinations of topics, so that a graded item is never one that was seen.
"""

import random
from collections.abc import Sequence
from typing import TypeVar

from tasks.mlrb.world import lexicon
from tasks.mlrb.world.grammar import Part, Phrase, Speaker, part_of_words
from tasks.mlrb.world.lexicon import Noun, Verb

HARD = 0.3
"""Share of items that a cue word alone does not decide."""
T = TypeVar("T")


class ItemAuthor(Speaker):
    """Draws people and verbs of one part."""

    def __init__(self, seed: int, rng: random.Random, part: Part) -> None:
        super().__init__(seed, rng)
        self.part = part

    @property
    def hard(self) -> bool:
        """Whether the next item should be one of the hard ones."""
        return self.rng.random() < HARD

    def either(self) -> bool:
        """A coin."""
        return self.rng.random() < 0.5

    def mine(self, *words: str) -> bool:
        """Whether that combination belongs to this author's part."""
        return part_of_words(self.seed, *words) == self.part

    def someone(self) -> Phrase:
        """A single person, by name or as `the doctor`."""
        if self.either():
            return self.name()
        noun = self.rng.choice(lexicon.PEOPLE)
        return Phrase(f"the {noun.singular}", noun)

    def people(self, count: int) -> list[Phrase]:
        """Different single people."""
        found: list[Phrase] = []
        while len(found) < count:
            one = self.someone()
            if all(one.noun != other.noun for other in found):
                found.append(one)
        return found

    def deed(self, doer: Noun) -> Verb:
        """Something that this person does to people, in this author's part."""
        return self.verb(doer, lexicon.TRANSITIVE, self.part) or self.some_verb(doer, lexicon.TRANSITIVE)

    def pick(self, options: Sequence[T], *fixed: str) -> T | None:
        """One of the options that together with the fixed words belongs to this part, or None."""
        fitting = [option for option in options if self.mine(*fixed, str(option))]
        return self.rng.choice(fitting) if fitting else None
