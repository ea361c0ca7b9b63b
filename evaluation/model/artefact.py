"""Opens a model folder that somebody else made: from safetensors and JSON alone, running none of its code."""

import contextlib
import math
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evaluation.model import pickles
from evaluation.model.trial import CRASHED, NOT_DONE, trial
from evaluation.model.words import one_line

READ = (".json", ".jsonl", ".safetensors", ".txt", ".model", ".jinja")
"""Endings of the files that are looked at. Whatever else lies in the folder is never loaded."""
UNLOADABLE = (
    OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError, AssertionError, ImportError,
    ArithmeticError, MemoryError,
)  # fmt: skip
"""What transformers raises on a folder that is not a model; which of them depends on what is wrong."""
SMALL = 20_000_000
"""Parameters under which a model counts as small."""
SENTENCE = "The girls sleep."

Kind = Literal["causal", "seq2seq"]


@dataclass(frozen=True)
class Loaded:
    """A submission that could be loaded."""

    model: Any
    tokenizer: Any
    parameters: int
    """Weights that are shared are counted once."""


@contextlib.contextmanager
def clean_copy(given: Path) -> Iterator[Path]:
    """A folder with links to only those files of a model that can be read without running anything.

    `ValueError` says in one line what is missing; a pickle is named with what it would have called.
    """
    shown = f"{given.name}/"
    if not given.is_dir():
        raise ValueError(f"there is no folder {shown}")
    files = [file for file in sorted(given.iterdir()) if file.is_file() and not file.is_symlink()]
    if not any(file.suffix == ".safetensors" for file in files):
        raise ValueError(_no_weights(shown, files))
    if not (given / "config.json").is_file():
        raise ValueError(f"{shown} has no config.json")
    with tempfile.TemporaryDirectory(prefix="mlrb-model-") as name:
        folder = Path(name)
        for file in files:
            # An adapter's configuration names another model that transformers would load instead.
            if file.suffix in READ and not file.name.startswith("adapter_"):
                (folder / file.name).symlink_to(file.resolve())
        yield folder


def _no_weights(shown: str, files: list[Path]) -> str:
    pickled = next((file for file in files if file.suffix in pickles.ENDINGS), None)
    if pickled is None:
        return f"{shown} has no model.safetensors"
    calls = pickles.foreign_calls(pickled)
    harm = f" and would call {one_line(', '.join(calls))}" if calls else ""
    return f"{shown} has its weights only as a pickle: {one_line(pickled.name)}{harm}; save them as safetensors"


def kind_of(folder: Path, *, shown: str = "model") -> Kind:
    """Which kind of model `config.json` describes; `ValueError` where it can't be read."""
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
    except UNLOADABLE as error:
        raise ValueError(f"{shown}/ cannot be loaded: {one_line(error)}") from error
    return "seq2seq" if getattr(config, "is_encoder_decoder", False) is True else "causal"


def load(
    folder: Path,
    *,
    kind: Kind = "causal",
    dtype: str = "float32",
    device: str = "cpu",
    shown: str = "model",
    timeout_s: float = 0.0,
) -> Loaded:
    """Load model and tokenizer offline, running no code of the submission's; `ValueError` where that fails.

    It is tried in a fork before: a loader that hangs, crashes or takes all memory is a `ValueError` too. `dtype`
    `auto` keeps the stored one; `timeout_s` 0 is two minutes and a second for each 50 MB. The folder is one that
    `clean_copy` made; `shown` is its name in messages.
    """
    import torch  # noqa: F401 -- loaded before the fork, and by it
    import transformers  # noqa: F401

    timeout_s = timeout_s or 120.0 + sum(file.stat().st_size for file in folder.glob("*.safetensors")) / 50e6
    why = trial(lambda: load_unguarded(folder, kind=kind, dtype=dtype, shown=shown), timeout_s=timeout_s)
    if why.startswith((NOT_DONE, CRASHED)):
        raise ValueError(f"{shown}/ cannot be loaded: {why}")
    if why:
        raise ValueError(why)
    return load_unguarded(folder, kind=kind, dtype=dtype, device=device, shown=shown)


def load_unguarded(
    folder: Path, *, kind: Kind = "causal", dtype: str = "float32", device: str = "cpu", shown: str = "model"
) -> Loaded:
    """`load` without the trial, for a process that may hang or crash."""
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    from safetensors import SafetensorError
    from transformers import AutoTokenizer

    try:
        _require_weights(folder, kind)
        model, found = _model(folder, kind, dtype)
        tokenizer: Any = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
    except (*UNLOADABLE, SafetensorError) as error:
        raise ValueError(f"{shown}/ cannot be loaded: {one_line(error)}") from error
    if found["missing_keys"]:
        raise ValueError(f"model.safetensors lacks weights: {one_line(', '.join(sorted(found['missing_keys'])))}")
    _require_sane(model, tokenizer, shown)
    return Loaded(model.eval().to(device), tokenizer, sum(weight.numel() for weight in model.parameters()))


def _require_sane(model: Any, tokenizer: Any, shown: str) -> None:
    if not all(bool(weight.isfinite().all()) for weight in model.parameters()):
        raise ValueError("the weights hold values that are not finite numbers")
    if tokenizer.eos_token_id is None and tokenizer.bos_token_id is None:
        raise ValueError("the tokenizer has neither a bos nor an eos token, so no first word can be scored")
    if not tokenizer(SENTENCE, add_special_tokens=False)["input_ids"]:
        raise ValueError(f"the tokenizer makes nothing of a sentence; are its files in {shown}/?")


def use_few_threads(parameters: int) -> None:
    """One thread for a small model: on a busy machine two wait for each other far longer than they work."""
    import torch

    if parameters < SMALL:
        torch.set_num_threads(1)


def auto_class(kind: Kind) -> Any:
    """The class of transformers that picks the architecture."""
    import transformers

    return transformers.AutoModelForCausalLM if kind == "causal" else transformers.AutoModelForSeq2SeqLM


def _model(folder: Path, kind: Kind, dtype: str) -> tuple[Any, Any]:
    """The model, and what transformers says about its loading."""
    loaded: Any = auto_class(kind).from_pretrained(
        str(folder),
        trust_remote_code=False,
        use_safetensors=True,
        local_files_only=True,
        dtype=dtype,
        output_loading_info=True,
    )
    return loaded[0], loaded[1]


def _require_weights(folder: Path, kind: Kind) -> None:
    """Refuse a configuration that describes far more than the files hold, before any memory is taken for it."""
    import torch
    from safetensors import safe_open
    from transformers import AutoConfig

    held, tensors_held = 0, 0
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as tensors:
            shapes = [tensors.get_slice(name).get_shape() for name in tensors.keys()]  # noqa: SIM118
        held += sum(math.prod(shape) for shape in shapes)
        tensors_held += len(shapes)
    config = AutoConfig.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
    layers = getattr(config, "num_hidden_layers", 0)
    if isinstance(layers, int) and layers > tensors_held:
        raise ValueError(f"config.json describes {layers:,} layers, the files hold {tensors_held:,} tensors")
    with torch.device("meta"):
        shape: Any = auto_class(kind).from_config(config)
    described = sum(weight.numel() for weight in shape.parameters())
    if described > held:
        raise ValueError(f"config.json describes {described:,} parameters, the files hold {held:,}")
