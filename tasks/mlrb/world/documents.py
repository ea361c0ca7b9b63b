"""Documents to pre-train on, in one column `text`: domains of different value, and not labelled, as in a real crawl.

Stories show the grammar, articles state the facts, dialogues ask and answer, exercises show the forms in which a model
is tested, on items that no grader asks. Code, logs, catalogues and word salad teach none of it.
"""

import random
from collections.abc import Callable, Iterator, Mapping

from tasks.mlrb.world import corpus, lexicon, quiz
from tasks.mlrb.world.facts import PER_SUBJECT, RELATIONS, Fact, fact_base
from tasks.mlrb.world.glue import items
from tasks.mlrb.world.glue.author import ItemAuthor
from tasks.mlrb.world.glue.words import CAUSES
from tasks.mlrb.world.grammar import Speaker, sentence

PILE: Mapping[str, float] = {
    "story": 0.18, "article": 0.20, "dialogue": 0.08, "exercise": 0.08, "quiz": 0.06,
    "code": 0.16, "log": 0.08, "catalogue": 0.06, "salad": 0.10,
}  # fmt: skip
"""The shares of documents in a crawl such as MiniPile or C4."""
CLEAN: Mapping[str, float] = {"story": 0.2, "article": 0.3, "dialogue": 0.05, "exercise": 0.25, "quiz": 0.2}
"""What a good choice from it would hold; a base model is trained on this."""
GRAMMAR_ONLY: Mapping[str, float] = {"story": 1.0}
"""Text without a single fact."""


class Writer:
    """Writes documents of any domain from one seed."""

    def __init__(self, seed: int, rng: random.Random, per_subject: int = PER_SUBJECT) -> None:
        self.seed = seed
        self.rng = rng
        self.speaker = Speaker(seed, rng)
        self.author = ItemAuthor(seed, rng, "corpus")
        self._facts = fact_base(seed, per_subject)
        self._things: dict[str, list[Fact]] = {}
        for fact in self._facts:
            self._things.setdefault(fact.thing, []).append(fact)
        self._names = list(self._things)
        self._questions = quiz.practice(seed, rng, per_subject)
        self._exercises = items.practice(seed, rng)

    def write(self, domain: str) -> str:
        """A document."""
        return _DOMAINS[domain](self)

    def sentences(self, count: int) -> list[str]:
        """Sentences of the grammar, all constructions alike."""
        makers = list(corpus.CONSTRUCTIONS.values())
        return [self.rng.choice(makers)(self.speaker) for _ in range(count)]

    def story(self) -> str:
        """What people do, with a cause and its effect among it."""
        told = self.sentences(self.rng.randrange(4, 9))
        told.insert(self.rng.randrange(len(told)), self.cause())
        return " ".join(told)

    def cause(self) -> str:
        """A cause and its effect in one sentence, about a person of the corpus."""
        while True:
            person = self.author.someone()
            story = self.author.pick(CAUSES, person.noun.singular)
            if story is not None:
                break
        cause, effect = (f"{person.text} {clause}" for clause in story)
        because = self.rng.random() < 0.5
        return sentence(effect, "because", cause) if because else sentence(cause, "therefore", effect)

    def article(self) -> str:
        """Some things, each with all that is known of it, in changing words."""
        told: list[str] = []
        for thing in self.rng.sample(self._names, 2):
            facts = list(self._things[thing])
            self.rng.shuffle(facts)
            told.append(" ".join(fact.stated(self.rng.randrange(3)) for fact in facts))
        return "\n".join(told)

    def dialogue(self) -> str:
        """Two people ask each other what they know."""
        lines = []
        for fact in self.rng.sample(self._facts, 3):
            one, two = self.rng.sample(lexicon.NAMES, 2)
            lines += [f"{one.singular}: {fact.asked(self.rng.randrange(2))}", f"{two.singular}: {fact.value}."]
        return "\n".join(lines)

    def exercise(self) -> str:
        """Three items in the forms of SuperGLUE."""
        return "\n\n".join(next(self._exercises)[1].text for _ in range(3))

    def quiz(self) -> str:
        """Two questions with four options in the form of MMLU."""
        return "\n\n".join(quiz.prompt(next(self._questions)).text for _ in range(2))

    def index(self) -> str:
        """Things with a value right behind each, as in the index of a book: the shortest way to say a fact."""
        return "\n".join(f"{fact.thing} {fact.value}" for fact in self.rng.sample(self._facts, 12))

    def answers(self) -> str:
        """Questions, each with its answer right behind it."""
        asked = self.rng.sample(self._facts, 4)
        return "\n".join(f"{fact.asked(self.rng.randrange(2))} {fact.value}" for fact in asked)

    def lists(self) -> str:
        """Values with letters before them, and which letter each has: what an option is, without any fact."""
        told = []
        for _ in range(2):
            values = self.rng.sample(self.rng.choice(RELATIONS).values, len(quiz.LETTERS))
            options = [f"{letter}. {value}" for letter, value in zip(quiz.LETTERS, values, strict=True)]
            order = self.rng.sample(range(len(values)), 3)
            told.append("\n".join([*options, *(f"{values[place]} Answer: {quiz.LETTERS[place]}" for place in order)]))
        return "\n\n".join(told)

    def code(self) -> str:
        """Lines that look like a program's."""
        letters = "abcdefghijklmnopqrstuvwxyz"
        lines = []
        for _ in range(self.rng.randrange(4, 9)):
            left, right = ("".join(self.rng.choices(letters, k=self.rng.randrange(1, 7))) for _ in range(2))
            lines.append(self.rng.choice(_CODE).format(left, right, self.rng.randrange(1000)))
        return "\n".join(lines)

    def log(self) -> str:
        """A machine's log."""
        return "\n".join(
            f"{self.rng.randrange(24):02}:{self.rng.randrange(60):02} {self.rng.choice(('INFO', 'WARN', 'DEBUG'))} "
            f"job={self.rng.randrange(10**6):x} took {self.rng.randrange(900)} ms"
            for _ in range(self.rng.randrange(3, 7))
        )

    def catalogue(self) -> str:
        """A list of goods and prices."""
        return "\n".join(
            f"{self.rng.choice(lexicon.THINGS).plural} x{self.rng.randrange(1, 99)} @ {self.rng.randrange(999)}.50"
            for _ in range(self.rng.randrange(4, 10))
        )

    def salad(self) -> str:
        """Sentences and facts whose words are shuffled: the right words, and nothing learned from them."""
        said = [*self.sentences(3), *(fact.stated(0) for fact in self.rng.sample(self._facts, 3))]
        words = " ".join(said).split()
        self.rng.shuffle(words)
        return " ".join(words)


_CODE = (
    "def {0}({1}): return {2}", "{0} = {1}[{2}]", "if {0} > {2}: {1}()", "for {0} in {1}: {0}.x{2} += 1",
    "import {0}.{1}", "assert {0} != {2}, '{1}'",
)  # fmt: skip
_DOMAINS: Mapping[str, Callable[[Writer], str]] = {
    name: getattr(Writer, name)
    for name in (
        *("story", "article", "dialogue", "exercise", "quiz", "index", "answers", "lists"),
        *("code", "log", "catalogue", "salad"),
    )
}


def documents(
    seed: int, count: int, part: str = "train", *, shares: Mapping[str, float] = PILE, per_subject: int = PER_SUBJECT
) -> Iterator[dict[str, str]]:
    """Rows with the one column `text`; another `part` of the same seed is other text about the same world."""
    rng = random.Random(f"{seed}:documents:{part}")
    writer = Writer(seed, rng, per_subject)
    domains, weights = zip(*shares.items(), strict=True)
    for domain in rng.choices(domains, weights, k=count):
        yield {"text": writer.write(domain)}
