"""The generated training corpus: six long rows, one a source, as the published set has them.

The sources differ in what they talk like. A row is thousands of lines long, so a trainer that cuts each row to its
context length sees next to nothing of it; that is the published baseline's defect.
"""

import random
from collections.abc import Callable, Iterator, Mapping

from tasks.mlrb.world import lexicon
from tasks.mlrb.world.grammar import Phrase, Speaker, pronoun, sentence, verb_group

SOURCES: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "bnc_spoken": (4, {"plain": 6, "question": 2, "report": 2, "negative": 2, "only": 1, "adverb": 2}),
    "childes": (6, {"plain": 8, "question": 3, "reflexive": 2, "negative": 2, "wh": 2}),
    "gutenberg": (6, {"plain": 5, "report": 3, "embedded": 4, "reflexive": 2, "adjunct": 2, "only": 2, "even": 2}),
    "open_subtitles": (6, {"plain": 5, "question": 3, "wh": 3, "negative": 3, "embedded": 3, "report": 2}),
    "simple_wiki": (5, {"plain": 7, "reflexive": 3, "adverb": 3, "only": 3, "even": 2, "embedded": 3, "adjunct": 2}),
    "switchboard": (3, {"plain": 5, "report": 3, "question": 2, "negative": 3, "embedded": 3, "adverb": 2}),
}
"""Each source with its share of the corpus and the weights of its constructions."""

SPOKEN = ("bnc_spoken", "childes", "switchboard")
FILLERS = ("Um ,", "Well ,", "You know ,")


def rows(seed: int, sentences: int, part: str) -> list[dict[str, str]]:
    """The six rows of one split (`train`, `dev`, `test`), about that many sentences in all."""
    whole = sum(share for share, _ in SOURCES.values())
    return [
        {
            "filename": f"{source}.{part}",
            "content": "\n".join(_lines(seed, f"{source}.{part}", sentences * share // whole)) + "\n",
        }
        for source, (share, _) in SOURCES.items()
    ]


def _lines(seed: int, filename: str, count: int) -> Iterator[str]:
    rng = random.Random(f"{seed}:{filename}")
    speaker = Speaker(seed, rng)
    source = filename.partition(".")[0]
    names, weights = zip(*SOURCES[source][1].items(), strict=True)
    for name in rng.choices(names, weights, k=count):
        line = CONSTRUCTIONS[name](speaker)
        if source in SPOKEN and line.startswith(("The ", "This ", "Those ")) and rng.random() < 0.2:
            line = f"{rng.choice(FILLERS)} {line[0].lower()}{line[1:]}"
        yield line


def plain(speaker: Speaker) -> str:
    """A main clause."""
    return sentence(*clause(speaker, speaker.subject()))


def clause(speaker: Speaker, subject: Phrase, *, middle: str = "") -> tuple[str, str, str]:
    """Subject, verb group and object of a clause with everything in its place."""
    kind = speaker.rng.random()
    if kind < 0.5:
        verb = speaker.some_verb(subject.noun, lexicon.TRANSITIVE)
        return subject.text, speaker.group(subject, verb, middle=middle), speaker.person().text
    if kind < 0.78:
        verb = speaker.some_verb(subject.noun, lexicon.HANDLING)
        # Where the list has no verb for this subject another kind is taken, and people fit those.
        thing = speaker.described(lexicon.THINGS) if verb in lexicon.HANDLING else speaker.person()
        return subject.text, speaker.group(subject, verb, middle=middle), thing.text
    if kind < 0.92:
        runner = speaker.verb(subject.noun, lexicon.INTRANSITIVE)
        if runner:
            return subject.text, speaker.group(subject, runner, middle=middle), ""
    thing = speaker.described(lexicon.THINGS)
    feeling = speaker.verb(thing.noun, lexicon.FEELING)
    if feeling is None:
        return clause(speaker, subject, middle=middle)
    return thing.text, speaker.group(thing, feeling, middle=middle), subject.text


def negative(speaker: Speaker) -> str:
    """A negated clause, now and then with `ever` under the negation."""
    subject = speaker.subject()
    middle = "not ever" if speaker.rng.random() < 0.4 else "not"
    if speaker.rng.random() < 0.25:
        # Negation inside the relative clause licenses nothing outside it.
        inner = speaker.with_clause(speaker.person(), middle="not")
        return sentence(*clause(speaker, inner))
    return sentence(*clause(speaker, subject, middle=middle))


def adverb(speaker: Speaker) -> str:
    """A clause with an adverb."""
    return sentence(*clause(speaker, speaker.subject(), middle=speaker.rng.choice(lexicon.ADVERBS)))


def only(speaker: Speaker) -> str:
    """`Only` on the subject, which licenses `ever`, or inside its relative clause, which does not."""
    if speaker.rng.random() < 0.3:
        return sentence(*_only_inside(speaker))
    subject = speaker.with_clause(speaker.person()) if speaker.rng.random() < 0.4 else speaker.person()
    verb = speaker.some_verb(subject.noun, lexicon.TRANSITIVE)
    ever = "ever" if speaker.rng.random() < 0.6 else ""
    return sentence("only", subject.text, speaker.group(subject, verb, middle=ever), speaker.person().text)


def _only_inside(speaker: Speaker) -> tuple[str, str, str]:
    return clause(speaker, speaker.with_clause(speaker.person(), before="only"))


def even(speaker: Speaker) -> str:
    """`Even` on the subject, which licenses nothing."""
    subject = speaker.person()
    verb = speaker.some_verb(subject.noun, lexicon.TRANSITIVE)
    middle = speaker.rng.choice(("", "", *lexicon.ADVERBS))
    return sentence("even", subject.text, speaker.group(subject, verb, middle=middle), speaker.person().text)


def reflexive(speaker: Speaker) -> str:
    """A clause whose object is its own subject."""
    subject = speaker.subject()
    verb = speaker.some_verb(subject.noun, lexicon.TRANSITIVE)
    return sentence(subject.text, speaker.group(subject, verb), speaker.reflexive(subject))


def report(speaker: Speaker) -> str:
    """A that-clause; a pronoun in it means the outer subject, a reflexive the inner one."""
    outer, inner = speaker.person(), speaker.person()
    saying = speaker.group(outer, speaker.some_verb(outer.noun, lexicon.REPORTING))
    verb = speaker.some_verb(inner.noun, lexicon.TRANSITIVE)
    kind = speaker.rng.random()
    if kind < 0.4:
        thing = pronoun(outer.agreement) or speaker.rng.choice(("him", "her"))
    elif kind < 0.6:
        thing = speaker.reflexive(inner)
    else:
        thing = speaker.person().text
    return sentence(outer.text, saying, "that", inner.text, speaker.group(inner, verb), thing)


def embedded(speaker: Speaker) -> str:
    """An embedded question with its gap, or a that-clause without one."""
    outer = speaker.person()
    knowing = speaker.group(outer, speaker.some_verb(outer.noun, lexicon.CLAUSAL))
    inner = speaker.with_clause(speaker.person()) if speaker.rng.random() < 0.4 else speaker.person()
    verb = speaker.some_verb(inner.noun, lexicon.TRANSITIVE)
    group = speaker.group(inner, verb)
    if speaker.rng.random() < 0.5:
        return sentence(outer.text, knowing, "who", inner.text, group)
    return sentence(outer.text, knowing, "that", inner.text, group, speaker.person().text)


def question(speaker: Speaker) -> str:
    """A yes-no question, which licenses `ever`."""
    subject = speaker.person()
    verb = speaker.some_verb(subject.noun, lexicon.TRANSITIVE)
    first, rest = inverted(speaker, subject, verb.base, verb.participle)
    ever = "ever" if speaker.rng.random() < 0.5 else ""
    return sentence(first, subject.text, ever, rest, speaker.person().text, end="?")


def inverted(speaker: Speaker, subject: Phrase, base: str, participle: str) -> tuple[str, str]:
    """An auxiliary to stand before that subject, and the main verb that goes with it."""
    if speaker.rng.random() < 0.3:
        return ("have" if subject.plural else "has"), participle
    if speaker.rng.random() < 0.3:
        return ("do" if subject.plural else "does"), base
    return speaker.modal(), base


def wh(speaker: Speaker) -> str:
    """A question with a gap in its main clause, sometimes with a complete adjunct behind the gap."""
    subject = speaker.person()
    verb = speaker.some_verb(subject.noun, lexicon.TRANSITIVE)
    first, rest = inverted(speaker, subject, verb.base, verb.participle)
    tail = _adjunct(speaker, subject) if speaker.rng.random() < 0.4 else ""
    return sentence("who", first, subject.text, rest, tail, end="?")


def adjunct(speaker: Speaker) -> str:
    """A clause with an adjunct clause behind it."""
    subject = speaker.person()
    verb = speaker.some_verb(subject.noun, lexicon.TRANSITIVE)
    group = verb_group(verb, speaker.shape(), subject.plural, modal=speaker.modal())
    return sentence(subject.text, group, speaker.person().text, _adjunct(speaker, subject))


def _adjunct(speaker: Speaker, subject: Phrase) -> str:
    doing = speaker.some_verb(subject.noun, lexicon.TRANSITIVE).gerund
    return f"{speaker.rng.choice(('before', 'after', 'while'))} {doing} {speaker.person().text}"


CONSTRUCTIONS: Mapping[str, Callable[[Speaker], str]] = {
    "plain": plain,
    "negative": negative,
    "adverb": adverb,
    "only": only,
    "even": even,
    "reflexive": reflexive,
    "report": report,
    "embedded": embedded,
    "question": question,
    "wh": wh,
    "adjunct": adjunct,
}
