"""Grades a model folder: it must load from safetensors alone, and is then asked held-out minimal pairs by lm-eval."""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path

from evaluation.lm.harness import RESULTS_FILE, evaluate
from evaluation.lm.scores import SuiteResult
from evaluation.lm.suites import BLIMP
from evaluation.model.artefact import Loaded, clean_copy, load, use_few_threads
from evaluation.model.corpus import corpus_loss, corpus_texts, corpus_tokens, foreign_share, foreign_tokenizer
from evaluation.model.limits import too_many_parameters
from evaluation.model.training import read_log, too_little_data, untrue_log
from evaluation.model.words import one_line
from tasks.contract import Broken, Grade, Options, Report

MODEL = "model"


def grade(submission: Path, private: Path, *, split: str, options: Options, report: Report) -> Grade:
    """Measure a submission on one split; `ValueError` says in one line why there is nothing to score."""
    with clean_copy(submission / MODEL) as folder:
        report(0, 3, "loading")
        loaded = load(folder)
        use_few_threads(loaded.parameters)
        report(1, 3, "training evidence")
        texts = corpus_texts(private / split / "corpus.jsonl")
        with _usable():
            details, broken = _training(folder, loaded, texts)
            report(2, 3, "lm-eval")
            result = _ask(folder, private / split, options, report)
    broken += too_many_parameters(loaded.parameters, int(options.get("max_parameters", 0)))
    details |= {"parameters": float(loaded.parameters), **result.details()}
    return {
        "value": result.fair_accuracy,
        "standard_error": result.standard_error,
        "details": {name: value for name, value in details.items() if math.isfinite(value)},
        "violations": broken,
        "files": {RESULTS_FILE.format(suite=BLIMP.name): result.lm_eval},
    }


def _training(folder: Path, loaded: Loaded, texts: list[str]) -> tuple[dict[str, float], list[Broken]]:
    log = read_log(folder)
    available = corpus_tokens(loaded.tokenizer, texts)
    loss = corpus_loss(loaded.model, loaded.tokenizer, texts)
    foreign = foreign_share(loaded.tokenizer, texts)
    broken = [*untrue_log(log, loss), *too_little_data(log, available), *foreign_tokenizer(foreign)]
    return {
        "tokens_trained": float(log.tokens),
        "corpus_tokens": float(available),
        "passes": log.tokens / available if available else 0.0,
        "corpus_loss": loss,
        "foreign_words": foreign,
    }, broken


def _ask(folder: Path, hub_root: Path, options: Options, report: Report) -> SuiteResult:
    import torch

    return evaluate(
        folder,
        BLIMP,
        hub_root,
        batch_size=int(options.get("batch_size", 0)),
        device="cuda" if torch.cuda.is_available() else "cpu",
        report=report,
    )


@contextlib.contextmanager
def _usable() -> Iterator[None]:
    """The model loads, and yet it may not take sentences: too short a context, too few embeddings."""
    try:
        yield
    except (AssertionError, IndexError, RuntimeError) as error:
        raise ValueError(f"the model cannot score the sentences: {one_line(error)}") from error
