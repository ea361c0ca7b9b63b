"""The rows as lm-eval's stock task files ask them, zero-shot: a test compares the two."""

from collections.abc import Callable, Mapping
from typing import Any

from tasks.mlrb.world.quiz import Prompt

Row = Mapping[str, Any]
_NO_YES = (" no", " yes")


def _boolq(row: Row) -> Prompt:
    return Prompt(f"{row['passage']}\nQuestion: {row['question']}?\nAnswer:", _NO_YES, row["label"])


def _cb(row: Row) -> Prompt:
    asked = f"{row['premise']}\nQuestion: {row['hypothesis']}. True, False, or Neither?\nAnswer:"
    return Prompt(asked, (" True", " False", " Neither"), row["label"])


def _copa(row: Row) -> Prompt:
    link = {"cause": "because", "effect": "therefore"}[row["question"]]
    # Two blanks: the stock file puts one before each choice, and lm-eval another.
    choices = tuple(f"  {text[0].lower()}{text[1:]}" for text in (row["choice1"], row["choice2"]))
    return Prompt(f"{row['premise'].strip()[:-1]} {link}", choices, row["label"])


def _multirc(row: Row) -> Prompt:
    ends = tuple(f" {row['answer']}\nIs the answer correct? {word}" for word in ("yes", "no"))
    return Prompt(f"{row['paragraph']}\nQuestion: {row['question']}\nAnswer:", ends, row["label"])


def _record(row: Row) -> Prompt:
    told, *highlights = row["passage"].strip().split("\n@highlight\n")
    context = told + "\n\n" + "".join(f"  - {line}.\n" for line in highlights)
    entities = sorted(set(row["entities"]))
    lines = tuple("   - " + row["query"].replace("@placeholder", entity) for entity in entities)
    return Prompt(context, lines, entities.index(row["answers"][0]))


def _rte(row: Row) -> Prompt:
    asked = f"{row['premise']}\nQuestion: {row['hypothesis']} True or False?\nAnswer:"
    return Prompt(asked, (" True", " False"), row["label"])


def _wic(row: Row) -> Prompt:
    word = row["sentence1"][row["start1"] : row["end1"]]
    asked = f"Is the word '{word}' used in the same way in the two sentences above?"
    context = f"Sentence 1: {row['sentence1']}\nSentence 2: {row['sentence2']}\nQuestion: {asked}\nAnswer:"
    return Prompt(context, _NO_YES, row["label"])


def _wsc(row: Row) -> Prompt:
    before = " ".join(row["text"].split()[: row["span2_index"]])
    after = row["text"][len(before) + len(row["span2_text"]) + 1 :]
    passage = f"{before} *{row['span2_text']}*{after}"
    asked = f'In the passage above, does the pronoun "*{row["span2_text"]}*" refer to "*{row["span1_text"]}*"?'
    return Prompt(f"Passage: {passage}\nQuestion: {asked}\nAnswer:", _NO_YES, row["label"])


PROMPTS: Mapping[str, Callable[[Row], Prompt]] = {
    "boolq": _boolq,
    "cb": _cb,
    "copa": _copa,
    "multirc": _multirc,
    "record": _record,
    "rte": _rte,
    "wic": _wic,
    "wsc": _wsc,
}
