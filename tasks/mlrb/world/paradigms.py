"""Minimal pairs for twenty of BLiMP's 67 paradigms, under their published names and in their published columns.

Each pair turns on a subject and a verb that belong together in the part that is asked for (`dev` or `test`), so no
sentence of it stands in the corpus or in the other part. Where a phenomenon has two sides, each is right about half
of the time, so counting words earns nothing.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tasks.mlrb.world import lexicon
from tasks.mlrb.world.corpus import inverted
from tasks.mlrb.world.grammar import (
    AGREEING,
    Part,
    Phrase,
    Shape,
    Speaker,
    pronoun,
    reflexive,
    sentence,
    verb_group,
)
from tasks.mlrb.world.lexicon import Noun, Verb

Pair = tuple[str, str]
"""The acceptable sentence and its counterpart."""


@dataclass(frozen=True)
class Paradigm:
    """One phenomenon, with BLiMP's labels for it."""

    name: str
    field: str
    term: str
    make: Callable[["Author"], Pair | None]
    """A pair, or None where the drawn words do not give one: then it is asked again."""


class Author(Speaker):
    """A speaker whose decisive verbs belong to one held-out part."""

    def __init__(self, seed: int, rng: random.Random, part: Part) -> None:
        super().__init__(seed, rng)
        self.part = part

    def decisive(self, subject: Noun, verbs: tuple[Verb, ...] = lexicon.TRANSITIVE) -> Verb | None:
        """A verb that this subject has in the held-out part."""
        return self.verb(subject, verbs, self.part)

    def either(self) -> bool:
        """A coin."""
        return self.rng.random() < 0.5


def items(seed: int, part: Part, count: int) -> dict[str, list[dict[str, object]]]:
    """`count` different pairs for every paradigm."""
    return {paradigm.name: list(_rows(paradigm, seed, part, count)) for paradigm in PARADIGMS}


def _rows(paradigm: Paradigm, seed: int, part: Part, count: int) -> Iterator[dict[str, object]]:
    author = Author(seed, random.Random(f"{seed}:{part}:{paradigm.name}"), part)
    seen: set[Pair] = set()
    while len(seen) < count:
        pair = paradigm.make(author)
        if pair is None or pair in seen:
            continue
        seen.add(pair)
        yield {
            "sentence_good": pair[0],
            "sentence_bad": pair[1],
            "field": paradigm.field,
            "linguistics_term": paradigm.term,
            "UID": paradigm.name,
            "simple_LM_method": True,
            "one_prefix_method": False,
            "two_prefix_method": False,
            "lexically_identical": sorted(_words(pair[0])) == sorted(_words(pair[1])),
            "pairID": str(len(seen) - 1),
        }


def _words(text: str) -> list[str]:
    return text.rstrip(".?").lower().split()


def _agreement(author: Author, subject: Phrase, *, things: bool = False) -> Pair | None:
    verb = author.decisive(subject.noun, lexicon.FEELING if things else lexicon.TRANSITIVE)
    if verb is None:
        return None
    shape: Shape = author.rng.choice(AGREEING)
    rest = author.person().text
    good, bad = (verb_group(verb, shape, plural) for plural in (subject.plural, not subject.plural))
    return sentence(subject.text, good, rest), sentence(subject.text, bad, rest)


def regular_agreement(author: Author) -> Pair | None:
    """The cups alarm / *alarms Mary."""
    if author.either():
        return _agreement(author, author.described(lexicon.THINGS), things=True)
    return _agreement(author, author.described(lexicon.PEOPLE))


def irregular_agreement(author: Author) -> Pair | None:
    """The children help / *helps Mary."""
    return _agreement(author, author.described(lexicon.IRREGULAR_PEOPLE))


def relational_distractor(author: Author) -> Pair | None:
    """The niece of the doctors has / *have helped Mary."""
    plural = author.either()
    return _agreement(author, author.relational(plural, not plural))


def clause_distractor(author: Author) -> Pair | None:
    """The boys that the girl likes have / *has helped Mary."""
    plural = author.either()
    return _agreement(author, author.with_clause(author.person(plural), author.person(not plural)))


def _binding(author: Author, subject: Phrase, good: str, bad: str) -> Pair | None:
    verb = author.decisive(subject.noun)
    if verb is None or not good or not bad:
        return None
    group = author.group(subject, verb)
    return sentence(subject.text, group, good), sentence(subject.text, group, bad)


def anaphor_gender(author: Author) -> Pair | None:
    """Mary helped herself / *himself."""
    gendered = [noun for noun in lexicon.PEOPLE if noun.gender != "open"]
    subject = author.name() if author.either() else author.described(gendered, plural=False)
    other = "feminine" if subject.agreement == "masculine" else "masculine"
    return _binding(author, subject, reflexive(subject.agreement), reflexive(other))


def anaphor_number(author: Author) -> Pair | None:
    """The boys helped themselves / *himself."""
    subject = author.person(author.either())
    single = reflexive(subject.noun.gender) or author.rng.choice(("himself", "herself"))
    good, bad = ("themselves", single) if subject.plural else (single, "themselves")
    return _binding(author, subject, good, bad)


def c_command(author: Author) -> Pair | None:
    """The girls that know Robert helped themselves / *himself."""
    subject = author.person(author.either())
    other = author.person(not subject.plural) if author.either() else author.name()
    good, bad = reflexive(subject.agreement), reflexive(other.agreement)
    if good == bad:
        return None
    return _binding(author, author.with_clause(subject, other), good, bad)


def binding_domain(author: Author) -> Pair | None:
    """Mary thinks that Robert admires her / *herself."""
    outer, inner = author.person(), author.person()
    good, bad = pronoun(outer.agreement), reflexive(outer.agreement)
    verb = author.decisive(inner.noun)
    if not good or verb is None or outer.agreement == inner.agreement or inner.agreement == "open":
        return None
    saying = author.group(outer, author.some_verb(outer.noun, lexicon.REPORTING))
    frame = (outer.text, saying, "that", inner.text, author.group(inner, verb))
    return sentence(*frame, good), sentence(*frame, bad)


def determiner_with_adjective(author: Author) -> Pair | None:
    """Mary cleaned those old cups / *cup."""
    subject, plural = author.person(), author.either()
    verb = author.decisive(subject.noun, lexicon.HANDLING)
    if verb is None:
        return None
    noun = author.rng.choice(lexicon.THINGS)
    determiner = author.rng.choice(("these", "those") if plural else ("this", "that"))
    frame = (subject.text, author.group(subject, verb), determiner, author.rng.choice(lexicon.ADJECTIVES))
    good, bad = (noun.plural, noun.singular) if plural else (noun.singular, noun.plural)
    return sentence(*frame, good), sentence(*frame, bad)


def negation_licenses(author: Author) -> Pair | None:
    """The boy has not / *probably ever helped Mary."""
    subject = author.subject()
    verb = author.decisive(subject.noun)
    if verb is None:
        return None
    shape: Shape = author.rng.choice(("has", "had", "be", "was", "modal"))
    modal, rest, wrong = author.modal(), author.person().text, author.rng.choice(lexicon.ADVERBS)
    good, bad = (verb_group(verb, shape, subject.plural, middle=f"{word} ever", modal=modal) for word in ("not", wrong))
    return sentence(subject.text, good, rest), sentence(subject.text, bad, rest)


def negation_scope(author: Author) -> Pair | None:
    """The boy that has helped Mary has not ever seen Tina / *that has not helped Mary has ever seen Tina."""
    head, other = author.person(), author.person()
    inner, verb = author.some_verb(head.noun, lexicon.TRANSITIVE), author.decisive(head.noun)
    if verb is None:
        return None
    first: Shape = author.rng.choice(("has", "had", "was"))
    second: Shape = author.rng.choice(("has", "had", "modal"))
    rest, modal = author.person().text, author.modal()

    def build(inside: str, outside: str) -> str:
        clause = verb_group(inner, first, head.plural, middle=inside)
        main = verb_group(verb, second, head.plural, middle=outside, modal=modal)
        return sentence(head.text, "that", clause, other.text, main, rest)

    return build("", "not ever"), build("not", "ever")


def only_licenses(author: Author) -> Pair | None:
    """Only / *even Mary has ever helped Robert."""
    subject = author.person()
    verb = author.decisive(subject.noun)
    if verb is None:
        return None
    frame = (subject.text, author.group(subject, verb, middle="ever"), author.person().text)
    return sentence("only", *frame), sentence("even", *frame)


def only_scope(author: Author) -> Pair | None:
    """Only the boys that Mary saw have ever helped Tina / *the boys that only Mary saw have ever helped Tina."""
    head, other = author.person(), author.person()
    verb = author.decisive(head.noun)
    if verb is None:
        return None
    inner = author.group(other, author.some_verb(other.noun, lexicon.TRANSITIVE))
    main, rest = author.group(head, verb, middle="ever"), author.person().text
    return (
        sentence("only", head.text, "that", other.text, inner, main, rest),
        sentence(head.text, "that only", other.text, inner, main, rest),
    )


def question_licenses(author: Author) -> Pair | None:
    """Will Mary ever help Robert? / *Mary will ever help Robert."""
    subject = author.person()
    verb = author.decisive(subject.noun)
    if verb is None:
        return None
    first, rest = inverted(author, subject, verb.base, verb.participle)
    thing = author.person().text
    return (
        sentence(first, subject.text, "ever", rest, thing, end="?"),
        sentence(subject.text, first, "ever", rest, thing),
    )


def _embedded(author: Author, gap: bool, distant: bool) -> Pair | None:
    outer, inner = author.person(), author.person()
    verb = author.decisive(inner.noun)
    if verb is None:
        return None
    knowing = author.group(outer, author.some_verb(outer.noun, lexicon.CLAUSAL))
    subject = author.with_clause(inner) if distant else inner
    tail = (subject.text, author.group(inner, verb), "" if gap else author.person().text)
    who, that = (sentence(outer.text, knowing, word, *tail) for word in ("who", "that"))
    return (who, that) if gap else (that, who)


def with_gap(author: Author) -> Pair | None:
    """Mary knows who / *that the boys admire."""
    return _embedded(author, gap=True, distant=False)


def no_gap(author: Author) -> Pair | None:
    """Mary knows that / *who the boys admire Robert."""
    return _embedded(author, gap=False, distant=False)


def with_distant_gap(author: Author) -> Pair | None:
    """Mary knows who / *that the boys that like Tina admire."""
    return _embedded(author, gap=True, distant=True)


def no_distant_gap(author: Author) -> Pair | None:
    """Mary knows that / *who the boys that like Tina admire Robert."""
    return _embedded(author, gap=False, distant=True)


def adjunct_island(author: Author) -> Pair | None:
    """Who has Mary helped before greeting Robert? / *who has Mary helped Robert before greeting?"""
    subject = author.person()
    verb = author.decisive(subject.noun)
    if verb is None:
        return None
    first, main = inverted(author, subject, verb.base, verb.participle)
    link = author.rng.choice(("before", "after", "while"))
    doing = author.some_verb(subject.noun, lexicon.TRANSITIVE).gerund
    thing = author.person().text
    return (
        sentence("who", first, subject.text, main, link, doing, thing, end="?"),
        sentence("who", first, subject.text, main, thing, link, doing, end="?"),
    )


def transitive(author: Author) -> Pair | None:
    """Mary helped / *slept the boy."""
    subject = author.person()
    verb = author.decisive(subject.noun)
    if verb is None:
        return None
    shape, modal, thing = author.shape(), author.modal(), author.person().text
    wrong = author.rng.choice(lexicon.INTRANSITIVE)
    good, bad = (verb_group(word, shape, subject.plural, modal=modal) for word in (verb, wrong))
    return sentence(subject.text, good, thing), sentence(subject.text, bad, thing)


_AGREE = ("morphology", "subject_verb_agreement")
_NPI = ("semantics", "npi_licensing")
_GAP = ("syntax", "filler_gap_dependency")
_BINDING = ("syntax_semantics", "binding")

PARADIGMS = (
    Paradigm("adjunct_island", "syntax", "island_effects", adjunct_island),
    Paradigm("anaphor_gender_agreement", "morphology", "anaphor_agreement", anaphor_gender),
    Paradigm("anaphor_number_agreement", "morphology", "anaphor_agreement", anaphor_number),
    Paradigm(
        "determiner_noun_agreement_with_adjective_1",
        "morphology",
        "determiner_noun_agreement",
        determiner_with_adjective,
    ),
    Paradigm("distractor_agreement_relational_noun", *_AGREE, relational_distractor),
    Paradigm("distractor_agreement_relative_clause", *_AGREE, clause_distractor),
    Paradigm("irregular_plural_subject_verb_agreement_1", *_AGREE, irregular_agreement),
    Paradigm("matrix_question_npi_licensor_present", *_NPI, question_licenses),
    Paradigm("only_npi_licensor_present", *_NPI, only_licenses),
    Paradigm("only_npi_scope", "syntax_semantics", "npi_licensing", only_scope),
    Paradigm("principle_A_c_command", *_BINDING, c_command),
    Paradigm("principle_A_domain_1", *_BINDING, binding_domain),
    Paradigm("regular_plural_subject_verb_agreement_1", *_AGREE, regular_agreement),
    Paradigm("sentential_negation_npi_licensor_present", *_NPI, negation_licenses),
    Paradigm("sentential_negation_npi_scope", "syntax_semantics", "npi_licensing", negation_scope),
    Paradigm("transitive", "syntax", "argument_structure", transitive),
    Paradigm("wh_vs_that_no_gap", *_GAP, no_gap),
    Paradigm("wh_vs_that_no_gap_long_distance", *_GAP, no_distant_gap),
    Paradigm("wh_vs_that_with_gap", *_GAP, with_gap),
    Paradigm("wh_vs_that_with_gap_long_distance", *_GAP, with_distant_gap),
)
