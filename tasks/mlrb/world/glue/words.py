"""COPA, WiC and WSC: causes, senses of words, and whom a pronoun means."""

from typing import Any

from tasks.mlrb.world.glue.author import ItemAuthor
from tasks.mlrb.world.grammar import Phrase, sentence

Row = dict[str, Any]

CAUSES = tuple(
    (cause.strip(), effect.strip())
    for cause, effect in (
        line.split("/")
        for line in """
        was very tired / went to sleep
        was hungry / ate some bread
        was thirsty / drank some water
        felt cold / lit a fire
        lost the key / could not open the door
        missed the train / came home late
        heard a joke / began to laugh
        broke a leg / went to the hospital
        won a prize / bought a new house
        saw a snake / ran away
        found a wallet / called the police
        had no money / looked for work
        caught a cold / stayed in bed
        got a letter / wrote an answer
        spilled the milk / cleaned the floor
        forgot the umbrella / got wet
        burned the dinner / ordered a pizza
        broke the window / paid for the glass
        practiced every day / played very well
        told a lie / felt ashamed
        """.strip().splitlines()
    )
)
"""What happens to somebody, and what follows from it."""

SENSES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "bank": (("put money into the bank", "asked the bank for a loan", "opened an account at the bank"),
             ("sat on the bank of the river", "fished from the grassy bank", "saw ducks on the muddy bank")),
    "bat": (("hit the ball with the bat", "swung the wooden bat", "carried a bat to the game"),
            ("saw a bat in the dark cave", "heard the wings of a bat", "found a sleeping bat at night")),
    "ring": (("wore a gold ring", "lost the wedding ring", "put the ring on a finger"),
             ("heard the ring of the phone", "waited for the ring of the bell", "woke from a loud ring")),
    "spring": (("planted flowers in spring", "likes the warm days of spring", "came back after winter in spring"),
               ("drank from the cool spring", "found water at the spring", "filled a bottle at the spring")),
    "match": (("lit the candle with a match", "burned a match in the dark", "struck a match for the fire"),
              ("won the match by two goals", "watched a football match", "played the match in the rain")),
    "seal": (("fed a seal at the zoo", "saw a seal swim in the sea", "heard a seal on the beach"),
             ("broke the seal of the letter", "put a red seal on the paper", "signed the seal of the law")),
    "club": (("joined a chess club", "met friends at the club", "paid the fee of the club"),
             ("swung a heavy club", "carved a club from wood", "hit the stone with a club")),
    "bark": (("heard the bark of the dog", "was scared by a loud bark", "woke from a bark at night"),
             ("cut the bark of the tree", "wrote on the dry bark", "took the bark off the branch")),
}  # fmt: skip
"""Two senses a word, and what people do with each."""

GRATEFUL = ("was grateful", "needed help", "was in trouble", "felt weak")
GENEROUS = ("was generous", "gave help", "was kind", "felt strong")
"""Said of one who thanks, and of one who is thanked."""


def copa(author: ItemAuthor, label: int) -> Row:
    """What follows, or why; the other choice belongs to another event."""
    person = author.someone()
    story = author.pick(CAUSES, person.noun.singular)
    if story is None:
        return copa(author, label)
    other = author.rng.choice([one for one in CAUSES if one != story])
    kind = author.rng.choice(("cause", "effect"))
    given, right, wrong = (story[1], story[0], other[0]) if kind == "cause" else (story[0], story[1], other[1])
    choices = [sentence(person.text, right), sentence(person.text, wrong)]
    if label:
        choices.reverse()
    return {
        "premise": sentence(person.text, given),
        "choice1": choices[0],
        "choice2": choices[1],
        "question": kind,
        "label": label,
    }


def wic(author: ItemAuthor, label: int) -> Row:
    """One word twice, in one sense or in two."""
    word = author.rng.choice(sorted(SENSES))
    first = author.rng.randrange(2)
    second = first if label else 1 - first
    one, two = author.rng.choice(SENSES[word][first]), author.rng.choice(SENSES[word][second])
    left, right = author.people(2)
    if one == two or not author.mine(one, two, left.noun.gender):
        return wic(author, label)
    texts = [sentence(left.text, one), sentence(right.text, two)]
    starts = [text.index(f" {word}") + 1 for text in texts]
    return {
        "word": word,
        "sentence1": texts[0],
        "sentence2": texts[1],
        "start1": starts[0],
        "start2": starts[1],
        "end1": starts[0] + len(word),
        "end2": starts[1] + len(word),
        "label": label,
    }


def wsc(author: ItemAuthor, label: int) -> Row:
    """Who thanked whom: gender tells which one the pronoun means, in a hard item only what is said of it."""
    hard = author.hard
    first, second = _gendered(author, same=hard)
    subject_meant = author.either()
    meant = first if subject_meant else second
    pronoun = "he" if meant.agreement == "masculine" else "she"
    said = author.rng.choice(GRATEFUL if subject_meant else GENEROUS)
    if not author.mine(first.text, second.text):
        return wsc(author, label)
    candidate = meant if label else (second if subject_meant else first)
    text = sentence(first.text, "thanked", second.text, "because", pronoun, said)
    words = text.split()
    return {
        "text": text,
        "span1_text": candidate.text,
        "span1_index": words.index(candidate.text),
        "span2_text": pronoun,
        "span2_index": words.index(pronoun),
        "label": label,
    }


def _gendered(author: ItemAuthor, *, same: bool) -> tuple[Phrase, Phrase]:
    first = author.name()
    genders = {"masculine": "feminine", "feminine": "masculine"}
    other = first.agreement if same else genders[first.agreement]
    second = author.name(other)
    while second.noun == first.noun:
        second = author.name(other)
    return first, second
