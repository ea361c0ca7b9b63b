"""Grades a model folder: it must load from safetensors alone, and is then asked held-out minimal pairs by lm-eval."""

import contextlib
import math
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.lm_harness import HarnessResult, blimp_tasks, evaluate
from tasks.contract import Broken, Grade, Options, Report
from tasks.mlrb.baby_lm import evidence

MODEL = "model"
READ = (".json", ".jsonl", ".safetensors", ".txt", ".model")
"""Endings of the files that are looked at. Whatever else lies in the folder is never opened."""
PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt")
SMALL = 20_000_000
UNLOADABLE = (OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError, AssertionError, ImportError)
"""What transformers raises on a folder that is not a model; which of them depends on what is wrong."""


@dataclass(frozen=True)
class Loaded:
    """A submission that could be loaded."""

    model: Any
    tokenizer: Any
    parameters: int


def grade(submission: Path, private: Path, *, split: str, options: Options, report: Report) -> Grade:
    """Measure a submission on one split; `ValueError` says in one line why there is nothing to score."""
    with _clean_copy(submission / MODEL) as folder:
        report(0, 3, "loading")
        loaded = load(folder)
        _use_few_threads(loaded.parameters)
        report(1, 3, "training evidence")
        texts = evidence.corpus_texts(private / split / "corpus.jsonl")
        with _usable():
            details, broken = _training(folder, loaded, texts)
            report(2, 3, "lm-eval")
            result = _ask(folder, private / split, options, report)
    broken += _size(loaded.parameters, int(options.get("max_parameters", 0)))
    details |= {"parameters": float(loaded.parameters), **_answers(result)}
    return {
        "value": result.fair_accuracy,
        "standard_error": result.standard_error,
        "details": {name: value for name, value in details.items() if math.isfinite(value)},
        "violations": broken,
    }


@contextlib.contextmanager
def _clean_copy(given: Path) -> Iterator[Path]:
    """A folder with links to only those files of the model that can be read without running anything."""
    if not given.is_dir():
        raise ValueError("there is no folder model/")
    files = [file for file in sorted(given.iterdir()) if file.is_file() and not file.is_symlink()]
    if not any(file.suffix == ".safetensors" for file in files):
        pickled = next((file.name for file in files if file.suffix in PICKLES), "")
        raise ValueError(
            f"model/ has its weights only as a pickle ({_line(pickled)}); save them as safetensors"
            if pickled
            else "model/ has no model.safetensors"
        )
    if not (given / "config.json").is_file():
        raise ValueError("model/ has no config.json")
    with tempfile.TemporaryDirectory(prefix="baby-lm-") as name:
        folder = Path(name)
        for file in files:
            if file.suffix in READ and not file.name.startswith("adapter_"):
                (folder / file.name).symlink_to(file.resolve())
        yield folder


def load(folder: Path) -> Loaded:
    """Load model and tokenizer offline, running no code of the submission's; `ValueError` where that fails."""
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    from safetensors import SafetensorError
    from transformers import AutoTokenizer

    try:
        _require_weights(folder)
        model, found = _model(folder)
        tokenizer: Any = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
    except (*UNLOADABLE, SafetensorError) as error:
        raise ValueError(f"model/ cannot be loaded: {_line(error)}") from error
    if found["missing_keys"]:
        raise ValueError(f"model.safetensors lacks weights: {_line(', '.join(sorted(found['missing_keys'])))}")
    if not all(bool(weight.isfinite().all()) for weight in model.parameters()):
        raise ValueError("the weights hold values that are not finite numbers")
    if tokenizer.eos_token_id is None and tokenizer.bos_token_id is None:
        raise ValueError("the tokenizer has neither a bos nor an eos token, so no first word can be scored")
    if not tokenizer("The girls sleep.", add_special_tokens=False)["input_ids"]:
        raise ValueError("the tokenizer makes nothing of a sentence; are its files in model/?")
    return Loaded(model.eval(), tokenizer, sum(weight.numel() for weight in model.parameters()))


def _model(folder: Path) -> tuple[Any, Any]:
    """The model, and what transformers says about its loading."""
    from transformers import AutoModelForCausalLM

    loaded: Any = AutoModelForCausalLM.from_pretrained(
        str(folder),
        trust_remote_code=False,
        use_safetensors=True,
        local_files_only=True,
        dtype="float32",
        output_loading_info=True,
    )
    return loaded[0], loaded[1]


def _require_weights(folder: Path) -> None:
    """Refuse a configuration that describes far more than the files hold, before any memory is taken for it."""
    import torch
    from safetensors import safe_open
    from transformers import AutoConfig, AutoModelForCausalLM

    held = 0
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as tensors:
            held += sum(math.prod(tensors.get_slice(name).get_shape()) for name in tensors.keys())  # noqa: SIM118
    config = AutoConfig.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
    with torch.device("meta"):
        shape: Any = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    described = sum(weight.numel() for weight in shape.parameters())
    if described > held:
        raise ValueError(f"config.json describes {described:,} parameters, the files hold {held:,}")


def _use_few_threads(parameters: int) -> None:
    """One thread for a small model: on a busy machine two wait for each other far longer than they work."""
    import torch

    if parameters < SMALL:
        torch.set_num_threads(1)


def _training(folder: Path, loaded: Loaded, texts: list[str]) -> tuple[dict[str, float], list[Broken]]:
    log = evidence.read_log(folder)
    available = evidence.corpus_tokens(loaded.tokenizer, texts)
    loss = evidence.corpus_loss(loaded.model, loaded.tokenizer, texts)
    foreign = evidence.foreign_share(loaded.tokenizer, texts)
    broken: list[Broken] = []
    if log.trouble:
        broken.append({"rule": "training_evidence", "evidence": log.trouble})
    elif log.loss < loss - evidence.LOSS_MARGIN:
        claim = f"the log ends at loss {log.loss:.2f}, measured on the corpus it is {loss:.2f}"
        broken.append({"rule": "training_evidence", "evidence": claim})
    if not log.trouble and log.tokens < available:
        share = f"trained on {log.tokens:,} tokens of {available:,} ({log.tokens / available:.1%})"
        broken.append({"rule": "data_consumed", "evidence": share})
    if foreign > evidence.FOREIGN_SHARE:
        words = f"{foreign:.0%} of the tokenizer's longer words are not in the corpus"
        broken.append({"rule": "own_tokenizer", "evidence": words})
    return {
        "tokens_trained": float(log.tokens),
        "corpus_tokens": float(available),
        "passes": log.tokens / available if available else 0.0,
        "corpus_loss": loss,
        "foreign_words": foreign,
    }, broken


def _size(parameters: int, limit: int) -> list[Broken]:
    if not limit or parameters <= limit:
        return []
    return [{"rule": "parameter_limit", "evidence": f"{parameters:,} parameters, the limit is {limit:,}"}]


def _ask(folder: Path, hub_root: Path, options: Options, report: Report) -> HarnessResult:
    import torch

    return evaluate(
        folder,
        blimp_tasks(hub_root),
        hub_root,
        batch_size=int(options.get("batch_size", 64)),
        device="cuda" if torch.cuda.is_available() else "cpu",
        report=report,
    )


@contextlib.contextmanager
def _usable() -> Iterator[None]:
    """The model loads, and yet it may not take sentences: too short a context, too few embeddings."""
    try:
        yield
    except (AssertionError, IndexError, RuntimeError) as error:
        raise ValueError(f"the model cannot score the sentences: {_line(error)}") from error


def _answers(result: HarnessResult) -> dict[str, float]:
    return {
        "lm_eval_accuracy": result.accuracy,
        "ties": float(sum(task.ties for task in result.subtasks)),
        "broken": float(sum(task.broken for task in result.subtasks)),
        **{task.name: task.fair_accuracy for task in result.subtasks},
    }


def _line(text: object) -> str:
    """One short line out of whatever a library said about somebody else's file."""
    line = " ".join(str(text).split()) or type(text).__name__
    return line if len(line) <= 200 else line[:199] + "…"
