"""CB and RTE: does one sentence follow from the other?"""

from typing import Any

from tasks.mlrb.world.glue.author import ItemAuthor
from tasks.mlrb.world.grammar import sentence

Row = dict[str, Any]
TRUE, FALSE, NEITHER = 0, 1, 2
FRAMES = {
    TRUE: ("knows that", "remembers that", "noticed that", "discovered that"),
    FALSE: ("lies that", "pretends that", "dreamed that", "invented that"),
    NEITHER: ("wonders whether", "asks whether", "doubts whether", "hopes that"),
}
"""What a report says about the truth of what it reports."""


def cb(author: ItemAuthor, label: int) -> Row:
    """A report and its content; in a hard item the hypothesis is another event, on which a report says nothing."""
    speaker, doer, other = author.people(3)
    verb = author.deed(doer.noun)
    clause = f"{doer.text} {verb.past} {other.text}"
    hypothesis = clause
    frames = FRAMES[label]
    if label == NEITHER and author.hard:
        frames = FRAMES[author.rng.choice((TRUE, FALSE))]
        hypothesis = f"{other.text} {author.deed(other.noun).past} {speaker.text}"
    return {
        "premise": sentence(speaker.text, author.rng.choice(frames), clause),
        "hypothesis": sentence(hypothesis).rstrip("."),
        "label": label,
    }


def rte(author: ItemAuthor, label: int) -> Row:
    """Two people and a deed: `both` entails, `neither` does not; in a hard item who did it and to whom decides."""
    first, second, other = author.people(3)
    if author.hard:
        verb = author.deed(second.noun)
        premise = sentence(first.text, "was", verb.participle, "by", second.text)
        pair = (second, first) if label == TRUE else (first, second)
        hypothesis = sentence(pair[0].text, verb.past, pair[1].text)
    else:
        verb = author.deed(first.noun)
        words = ("both", "and") if label == TRUE else ("neither", "nor")
        premise = sentence(words[0], first.text, words[1], second.text, verb.past, other.text)
        hypothesis = sentence(author.rng.choice((first, second)).text, verb.past, other.text)
    return {"premise": premise, "hypothesis": hypothesis, "label": label}
