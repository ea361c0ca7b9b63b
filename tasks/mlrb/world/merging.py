"""Rows like CosmosQA's and XSum's, in the columns of the merging competition's data."""

import random
from typing import Any

from tasks.mlrb.world.facts import PER_SUBJECT, Role, fact_base
from tasks.mlrb.world.glue.author import ItemAuthor
from tasks.mlrb.world.glue.words import CAUSES
from tasks.mlrb.world.grammar import Part, sentence

Row = dict[str, Any]
_PARTS: dict[Role, Part] = {"practice": "corpus", "dev": "dev", "test": "test"}


def cosmosqa(seed: int, role: Role, count: int) -> list[Row]:
    """What came before or after what is told: input, target, answer_choices, label."""
    rng = random.Random(f"{seed}:cosmosqa:{role}")
    author = ItemAuthor(seed, rng, _PARTS[role])
    rows: list[Row] = []
    while len(rows) < count:
        person = author.someone()
        story = author.pick(CAUSES, person.noun.singular)
        if story is None:
            continue
        others = rng.sample([one for one in CAUSES if one != story], 3)
        label = rng.randrange(4)
        choices = [sentence(person.text, effect) for _, effect in others]
        choices.insert(label, sentence(person.text, story[1]))
        told = f"{sentence(person.text, story[0])}\nQuestion: What happened then?\nAnswer:"
        rows.append({"input": told, "target": choices[label], "answer_choices": choices, "label": label})
    return rows


def xsum(seed: int, role: Role, count: int, per_subject: int = PER_SUBJECT) -> list[Row]:
    """A short article about a thing and one sentence that says it again: input, target."""
    rng = random.Random(f"{seed}:xsum:{role}")
    facts = [fact for fact in fact_base(seed, per_subject) if fact.role == role]
    author = ItemAuthor(seed, rng, _PARTS[role])
    rows: list[Row] = []
    for _ in range(count):
        fact = rng.choice(facts)
        beside = [sentence(one.text, author.deed(one.noun).past, other.text) for one, other in [author.people(2)] * 2]
        article = " ".join([fact.stated(0), *beside])
        rows.append({"input": f"{article}\nSummary:", "target": fact.stated(1)})
    return rows
