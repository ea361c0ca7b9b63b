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


def record(author: ItemAuthor, _: int) -> Row:
    """Four people went somewhere; who is meant by the place? The name stands last, so it has to be looked up."""
    people: list[Phrase] = []
    while len(people) < 4:
        name = author.name()
        if all(name.noun != other.noun for other in people):
            people.append(name)
    places = author.rng.sample(PLACES, 4)
    if not author.mine(people[0].text, places[0]):
        return record(author, 0)
    order = list(range(4))
    author.rng.shuffle(order)
    told = [sentence(people[place].text, "went to the", places[place]) for place in order]
    return {
        "passage": " ".join(told[:3]) + "\n@highlight\n" + told[3].rstrip("."),
        "query": f"The one who went to the {places[0]} is @placeholder",
        "entities": [people[place].text for place in order],
        "answers": [people[0].text],
    }
