"""Questions with four options in the columns of `cais/mmlu`, and the form in which lm-eval asks them."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks.mlrb.world.facts import PER_SUBJECT, Fact, Role, fact_base
from tasks.mlrb.world.subjects import SUBJECTS, spoken

LETTERS = "ABCD"
SHOTS = 5
"""Questions of the hub's split `dev`, from which few-shot examples are taken."""
Row = dict[str, Any]


def mmlu(
    seed: int, role: Role, *, each: int = 10, per_subject: int = PER_SUBJECT, subjects: Sequence[str] = SUBJECTS
) -> dict[str, dict[str, list[Row]]]:
    """Rows by configuration and split: in `test` questions about facts of that role, up to `each` a subject.

    A fact has two questions, so of twelve facts a subject come about 10 of role `test` and 4 of role `dev`.

    The hub's own `dev` and `validation` hold practice questions, which a training text may show too.
    """
    facts = fact_base(seed, per_subject)
    return {subject: _splits(seed, role, each, [f for f in facts if f.subject == subject]) for subject in subjects}


def _splits(seed: int, role: Role, each: int, facts: Sequence[Fact]) -> dict[str, list[Row]]:
    practice = [fact for fact in facts if fact.role == "practice"]
    rng = random.Random(f"{seed}:{role}:{facts[0].subject}")
    shots = [question(rng.choice(practice), rng) for _ in range(SHOTS)]
    asked = [fact for fact in facts if fact.role == role]
    rng.shuffle(asked)
    return {
        "dev": shots,
        "validation": [question(rng.choice(practice), rng) for _ in range(SHOTS)],
        # Few facts are asked again with other options, in the other of the two wordings.
        "test": [question(asked[n % len(asked)], rng, n // len(asked)) for n in range(min(each, 2 * len(asked)))],
    }


def question(fact: Fact, rng: random.Random, way: int | None = None) -> Row:
    """One row, in that wording of the question or in any; the right answer stands at any of the four places."""
    answer = rng.randrange(len(LETTERS))
    choices = fact.distractors(rng)
    choices.insert(answer, fact.value)
    asked = fact.asked(rng.randrange(2) if way is None else way)
    return {"question": asked, "subject": fact.subject, "choices": choices, "answer": answer}


@dataclass(frozen=True)
class Prompt:
    """What a model is shown, and the continuations it chooses from; each begins with a blank."""

    context: str
    continuations: tuple[str, ...]
    right: int

    @property
    def text(self) -> str:
        """The context with its right continuation."""
        return self.context + self.continuations[self.right]


def prompt(row: Mapping[str, Any], *, header: bool = True) -> Prompt:
    """A question as lm-eval's stock task asks it, zero-shot."""
    head = f"The following are multiple choice questions (with answers) about {spoken(row['subject'])}.\n\n"
    options = "".join(f"\n{letter}. {choice}" for letter, choice in zip(LETTERS, row["choices"], strict=True))
    return Prompt(
        f"{head if header else ''}{row['question']}{options}\nAnswer:",
        tuple(f" {letter}" for letter in LETTERS),
        row["answer"],
    )


def practice(seed: int, rng: random.Random, per_subject: int = PER_SUBJECT) -> Iterator[Row]:
    """Endless questions about practice facts."""
    facts = [fact for fact in fact_base(seed, per_subject) if fact.role == "practice"]
    while True:
        yield question(rng.choice(facts), rng)
