"""BoolQ, MultiRC and ReCoRD: something is told, and something is asked about it."""

from typing import Any

from tasks.mlrb.world.glue.author import ItemAuthor
from tasks.mlrb.world.grammar import Phrase, sentence
from tasks.mlrb.world.lexicon import Verb

Row = dict[str, Any]
_ALL = "market harbor garden library station village forest school castle river temple mill"
PLACES = _ALL.split()


def _told(doer: Phrase, verb: Verb, other: Phrase, positive: bool) -> str:
    if positive:
        return sentence(doer.text, verb.past, other.text)
    return sentence(doer.text, "did not", verb.base, other.text)


def boolq(author: ItemAuthor, label: int) -> Row:
    """Two sentences; did it happen? In a hard item the other sentence says the opposite of its own event."""
    doer, other, third, fourth = author.people(4)
    verb, beside = author.deed(doer.noun), author.deed(third.noun)
    positive = bool(label)
    also = positive if not author.hard else not positive
    lines = [_told(doer, verb, other, positive), _told(third, beside, fourth, also)]
    author.rng.shuffle(lines)
    return {
        "question": f"did {doer.text} {verb.base} {other.text}",
        "passage": " ".join(lines),
        "label": label,
    }


def multirc(author: ItemAuthor, label: int) -> Row:
    """Where three people went. A wrong answer is a place that is not named, in a hard item somebody else's.

    Label 0 is a right answer here: the stock task file (version 2.0) lists its continuations as yes, no, while the
    hub's label 1 means right. With the hub's meaning a model that understands would score below chance.
    """
    people = author.people(3)
    went: list[str] = []
    while len(went) < 3:
        place = author.pick([place for place in PLACES if place not in went], people[len(went)].noun.singular)
        went.append(place or author.rng.choice([place for place in PLACES if place not in went]))
    asked = author.rng.randrange(3)
    if label == 0:
        answer = went[asked]
    elif author.hard:
        answer = author.rng.choice([place for place in went if place != went[asked]])
    else:
        answer = author.rng.choice([place for place in PLACES if place not in went])
    told = " ".join(sentence(person.text, "went to the", place) for person, place in zip(people, went, strict=True))
    return {
        "paragraph": told,
        "question": f"Where did {people[asked].text} go?",
        "answer": f"the {answer}",
        "label": label,
    }


def record(author: ItemAuthor, label: int) -> Row:
    """Four people went somewhere; who is meant by the place? The name stands last, so it has to be looked up.

    The answer is that one of the four names in the order of the alphabet, in which lm-eval offers them.
    """
    names: set[str] = set()
    while len(names) < 4:
        names.add(author.name().text)
    meant = sorted(names)[label]
    went = dict(zip(sorted(names), author.rng.sample(PLACES, 4), strict=True))
    if not author.mine(meant, went[meant]):
        return record(author, label)
    order = sorted(names)
    author.rng.shuffle(order)
    told = [sentence(name, "went to the", went[name]) for name in order]
    return {
        "passage": " ".join(told[:3]) + "\n@highlight\n" + told[3].rstrip("."),
        "query": f"The one who went to the {went[meant]} is @placeholder",
        "entities": order,
        "answers": [meant],
    }
