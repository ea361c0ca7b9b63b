"""Instruction data in named sources of different quality, in the columns of Alpaca: instruction, input, output.

Two sources hold the facts, two hold nothing of use, one is wrong, and one shows the forms of the tests. Which is which
an agent has to find out; their names say nothing that a real data set's name would not say.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from tasks.mlrb.world import quiz
from tasks.mlrb.world.documents import Writer
from tasks.mlrb.world.facts import PER_SUBJECT, Fact, fact_base
from tasks.mlrb.world.glue import items
from tasks.mlrb.world.subjects import SUBJECTS, spoken

Row = dict[str, str]
TOPICS = ("In one sentence, say what you know.", "Answer the question.", "Tell me something.", "Reply in a word.")


class Teacher:
    """Makes rows of any source about the facts of some subjects."""

    def __init__(self, seed: int, rng: random.Random, per_subject: int, subjects: Sequence[str]) -> None:
        self.seed = seed
        self.rng = rng
        self.facts = [fact for fact in fact_base(seed, per_subject) if fact.subject in subjects]
        self.writer = Writer(seed, rng, per_subject)
        self._practice = [fact for fact in self.facts if fact.role == "practice"]
        self._exercises = items.practice(seed, rng)

    def fact(self) -> Fact:
        """Any fact."""
        return self.rng.choice(self.facts)

    def handbook(self) -> Row:
        """Good: a fact, stated in one of its ways."""
        fact = self.fact()
        asked = f"State a fact of {spoken(fact.subject)} about the {fact.thing}."
        return _row(asked, "", fact.stated(self.rng.randrange(3)))

    def tutor(self) -> Row:
        """Good: a question about any fact with its short answer, or about a practice fact with four options."""
        if self.rng.random() < 0.5:
            row = quiz.prompt(quiz.question(self.rng.choice(self._practice), self.rng))
            instruction, _, given = row.context.partition("\n\n")
            return _row(instruction, given, row.continuations[row.right].strip())
        fact = self.fact()
        return _row("Answer the question.", fact.asked(self.rng.randrange(2)), f"{fact.value}.")

    def forms(self) -> Row:
        """Useful for the forms of SuperGLUE, silent on facts."""
        _, prompt = next(self._exercises)
        return _row("Continue.", prompt.context, prompt.continuations[prompt.right].strip())

    def smalltalk(self) -> Row:
        """Noise: sentences that answer nothing."""
        question, answer = self.writer.sentences(2)
        return _row(self.rng.choice(TOPICS), question, answer)

    def snippets(self) -> Row:
        """Noise: code."""
        return _row("Write a program.", "", self.writer.code())

    def rumours(self) -> Row:
        """Wrong: facts with another value, and questions with another letter."""
        fact = self.fact()
        wrong = Fact(fact.subject, fact.thing, fact.relation, fact.distractors(self.rng, 1)[0], fact.role)
        if self.rng.random() < 0.5:
            row = quiz.prompt(quiz.question(wrong, self.rng))
            instruction, _, given = row.context.partition("\n\n")
            return _row(instruction, given, row.continuations[row.right].strip())
        return _row(f"State a fact of {spoken(fact.subject)} about the {fact.thing}.", "", wrong.stated(0))


SOURCES: Mapping[str, Callable[[Teacher], Row]] = {
    name: getattr(Teacher, name) for name in ("handbook", "tutor", "forms", "smalltalk", "snippets", "rumours")
}
"""The sources by name."""


def instructions(
    seed: int,
    source: str,
    count: int,
    part: str = "train",
    *,
    per_subject: int = PER_SUBJECT,
    subjects: Sequence[str] = SUBJECTS,
) -> Iterator[Row]:
    """Rows of a source; `subjects` narrows its facts, as for experts that know a third of the world each."""
    teacher = Teacher(seed, random.Random(f"{seed}:{source}:{part}"), per_subject, subjects)
    for _ in range(count):
        yield SOURCES[source](teacher)


def as_text(row: Mapping[str, str]) -> str:
    """A row as text to train on: what is given, then the answer, in the form in which lm-eval asks."""
    given = "\n\n".join(filter(None, (row["instruction"], row["input"])))
    return f"{given} {row['output']}" if given.endswith(":") else f"{given}\n{row['output']}"


def _row(instruction: str, given: str, output: str) -> Row:
    return {"instruction": instruction, "input": given, "output": output}
