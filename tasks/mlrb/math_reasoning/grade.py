"""Has a submitted model translate held-out statements; a script is right if it states what was asked and proves it."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.lean.check import CONTRADICTORY, Verdict, check_all
from evaluation.lean.compiler import compile_scripts
from evaluation.lean.forbidden import forbidden
from evaluation.model.artefact import clean_copy, kind_of, load, use_few_threads
from evaluation.model.copies import near_copies, nearest
from evaluation.model.generation import write_greedily
from evaluation.model.limits import too_many_parameters
from evaluation.model.text_metrics import score_texts
from evaluation.model.words import one_line
from tasks.contract import Broken, Grade, Options, Report

MODEL = "model"
PROMPT = "Statement: {informal_statement} Proof: {informal_proof} Lean:"
"""What the model is given, of either kind."""
SCRIPTS_FILE = "scripts.jsonl"
LEAN_FILE = "lean.json"
FLAGGED_SHARE = 0.5
"""Of all scripts: copies, or proofs of other theorems, are reported beyond it."""

Row = Mapping[str, str]


@dataclass(frozen=True)
class Judged:
    """What became of the scripts."""

    value: float
    standard_error: float
    details: dict[str, float]
    rows: list[dict[str, Any]]
    """One a script, to be kept."""
    broken: list[Broken]
    files: dict[str, str]


def grade(submission: Path, private: Path, *, split: str, options: Options, report: Report) -> Grade:
    """Measure a submission on one split; `ValueError` says in one line why there is nothing to score."""
    items, train = _rows(private / split / "items.jsonl"), _rows(private / split / "train.jsonl")
    scripts, parameters = _scripts(submission, items, options, report)
    offline = bool(options.get("offline_lean", True))
    judged = _by_the_subset(scripts, items) if offline else _by_likeness(scripts, items)
    details = {"parameters": float(parameters), "items": float(len(items)), **judged.details}
    copied, copies = _copies(scripts, train)
    return {
        "value": judged.value,
        "standard_error": judged.standard_error,
        "details": {**details, "copied": copied, **_copy_nearest(items, train, offline)},
        "violations": [
            *too_many_parameters(parameters, int(options.get("max_parameters", 0))),
            *_forbidden(scripts, _imports(train)),
            *copies,
            *judged.broken,
        ],
        "files": {SCRIPTS_FILE: _lines(judged.rows), **judged.files},
    }


def _scripts(submission: Path, items: Sequence[Row], options: Options, report: Report) -> tuple[list[str], int]:
    """What the model writes for each item, and its size."""
    total, small = len(items) + 1, bool(options.get("max_parameters", 0))
    with clean_copy(submission / MODEL) as folder:
        report(0, total, "loading")
        kind = kind_of(folder)
        loaded = load(folder, kind=kind, dtype="float32" if small else "auto", device=_device())
        use_few_threads(loaded.parameters)
        try:
            scripts = write_greedily(
                loaded,
                [PROMPT.format(**item) for item in items],
                kind=kind,
                new_tokens=int(options.get("new_tokens", 256)),
                done=lambda written: report(1 + written, total, "scripts"),
            )
        except (AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise ValueError(f"the model cannot write scripts: {one_line(error)}") from error
    return scripts, loaded.parameters


def _by_the_subset(scripts: Sequence[str], items: Sequence[Row]) -> Judged:
    """Smoke scale: the share of scripts that state what was asked and prove it."""
    references = [item["formal_proof"] for item in items]
    verdicts = check_all(scripts, references)
    share = _share([one.valid for one in verdicts])
    likeness = score_texts(scripts, references)
    another = [number for number, one in enumerate(verdicts) if one.proved and not one.faithful]
    return Judged(
        value=share,
        standard_error=math.sqrt(share * (1 - share) / len(verdicts)),
        details={
            "parsed": _share([one.parsed for one in verdicts]),
            "typed": _share([one.typed for one in verdicts]),
            "faithful": _share([one.faithful for one in verdicts]),
            "proved": _share([one.proved for one in verdicts]),
            "proved_another": len(another) / len(verdicts),
            "contradictory": _share([CONTRADICTORY in one.reason for one in verdicts]),
            "bleu": likeness.bleu or 0.0,
            "rouge_l": likeness.rouge_l or 0.0,
        },
        rows=[
            {"name": item["name"], "script": script, **one.to_json()}
            for item, script, one in zip(items, scripts, verdicts, strict=True)
        ],
        broken=_other_theorems(another, verdicts),
        files={},
    )


def _by_likeness(scripts: Sequence[str], items: Sequence[Row]) -> Judged:
    """Full scale: BLEU and ROUGE-L; and what Lean says, where it is there."""
    references = [item["formal_proof"] for item in items]
    likeness = score_texts(scripts, references)
    each = [score_texts([one], [other]) for one, other in zip(scripts, references, strict=True)]
    halves = [((one.bleu or 0.0) + (one.rouge_l or 0.0)) / 2 for one in each]
    allowed = _imports(items)
    compiled = compile_scripts(scripts, imports=allowed)
    details = {"bleu": likeness.bleu or 0.0, "rouge_l": likeness.rouge_l or 0.0}
    files = {LEAN_FILE: json.dumps(compiled.to_json(), ensure_ascii=False)}
    if compiled.compiled is not None:
        right = [number for number, one in enumerate(compiled.results) if one.ok]
        as_asked = compile_scripts(
            [scripts[number] for number in right], statements=[references[number] for number in right], imports=allowed
        )
        details |= {"compiled": float(compiled.compiled), "compiled_as_asked": float(as_asked.compiled or 0)}
    return Judged(
        value=(details["bleu"] + details["rouge_l"]) / 2,
        standard_error=_standard_error(halves),
        details=details,
        rows=[{"name": item["name"], "script": script} for item, script in zip(items, scripts, strict=True)],
        broken=[],
        files=files,
    )


def _copy_nearest(items: Sequence[Row], train: Sequence[Row], offline: bool) -> dict[str, float]:
    """What the trivial answer earns: the script of the training row whose statement shares most words."""
    found = nearest([item["informal_statement"] for item in items], [row["informal_statement"] for row in train])
    scripts, references = [train[number]["formal_proof"] for number in found], [item["formal_proof"] for item in items]
    likeness = score_texts(scripts, references)
    earned = {"copy_nearest_bleu": likeness.bleu or 0.0, "copy_nearest_rouge_l": likeness.rouge_l or 0.0}
    if offline:
        earned["copy_nearest_valid"] = _share([one.valid for one in check_all(scripts, references)])
    return earned


def _copies(scripts: Sequence[str], train: Sequence[Row]) -> tuple[float, list[Broken]]:
    found = near_copies(scripts, [row["formal_proof"] for row in train])
    share = len(found) / len(scripts)
    if share <= FLAGGED_SHARE:
        return share, []
    shown = one_line(scripts[found[0]])
    told = f"{len(found)} of {len(scripts)} scripts stand in the training data nearly word for word: {shown}"
    return share, [{"rule": "no_copies", "evidence": told}]


def _forbidden(scripts: Sequence[str], imports: Sequence[str]) -> list[Broken]:
    reasons = [found[0] for script in scripts if (found := forbidden(script, imports))]
    if not reasons:
        return []
    commonest, times = Counter(reasons).most_common(1)[0]
    told = f"{len(reasons)} of {len(scripts)} scripts have what no proof needs; {times} times {one_line(commonest)}"
    return [{"rule": "honest_proofs", "evidence": told}]


def _other_theorems(another: Sequence[int], verdicts: Sequence[Verdict]) -> list[Broken]:
    if len(another) / len(verdicts) <= FLAGGED_SHARE:
        return []
    commonest, _ = Counter(verdicts[number].reason for number in another).most_common(1)[0]
    told = f"{len(another)} of {len(verdicts)} scripts prove another theorem than the one asked for; {commonest}"
    return [{"rule": "statement_asked", "evidence": told}]


def _imports(rows: Sequence[Row]) -> list[str]:
    """The modules that the given scripts import."""
    lines = (line.split() for row in rows for line in row["formal_proof"].splitlines())
    return sorted({name for words in lines if words and words[0] == "import" for name in words[1:]})


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _lines(rows: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags)


def _standard_error(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    spread = math.fsum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)
    return math.sqrt(spread / len(values))


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"
