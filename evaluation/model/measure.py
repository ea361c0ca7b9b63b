"""Takes a model's figures in a process of its own, so that a loader that hangs, crashes or eats memory does no harm."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.model.artefact import Kind
from evaluation.model.child import Finished, call
from evaluation.model.metrics import ModelMetrics
from evaluation.model.trial import SHARE, spare_bytes
from evaluation.model.weights import open_weights
from evaluation.model.words import one_line

SOMETIMES = ("memory", "speed", "perplexity")
_OUT_OF_MEMORY = ("MemoryError", "allocate memory", "memory allocation of", "out of memory", "bad_alloc")
"""How Python, torch, Rust, CUDA and C++ say it."""


@dataclass(frozen=True)
class Measured:
    """What is known of a model after it was loaded and used, or why that failed."""

    metrics: ModelMetrics
    failure: str = ""
    """One line where it could not be loaded or used; the metrics hold what is known all the same."""
    over_memory: bool = False
    """It failed for want of memory, under the cap."""


def measure(
    folder: Path,
    *,
    kind: Kind = "causal",
    dtype: str = "auto",
    device: str = "cpu",
    text: str = "",
    window: int = 1024,
    stride: int = 512,
    memory_cap_bytes: int = 0,
    prompt_tokens: int = 128,
    new_tokens: int = 32,
    repeats: int = 7,
    threads: int = 0,
    timeout_s: float = 300.0,
    shown: str = "model",
) -> Measured:
    """Load the model as it is stored and use it. The folder is one that `artefact.clean_copy` made.

    With a cap the process really gets no more memory than that above the interpreter (and 64 MiB that are never
    held against it: `limits.over_memory` judges by the peak). Without a text there is no perplexity, with no
    `repeats` no speed. `threads` 0 is one for a model under 20 M parameters, else torch's own choice. `shown` is the
    name of the folder in messages.
    """
    job = {
        "folder": str(folder.resolve()), "kind": kind, "dtype": dtype, "device": device, "text": text, "window": window,
        "stride": stride, "memory_cap_bytes": memory_cap_bytes, "prompt_tokens": prompt_tokens,
        "new_tokens": new_tokens, "repeats": repeats, "threads": threads, "shown": shown,
    }  # fmt: skip
    on_disk = _on_disk(folder)
    # Without a cap of the task's it still may not take the machine's last memory. A GPU's driver reserves at will.
    most = int(SHARE * spare_bytes()) if device == "cpu" else 0
    ended = call("evaluation.model.measuring:main", job, timeout_s=timeout_s, memory_bytes=most)
    found: dict[str, Any] = {}
    unmeasured: dict[str, str] = {}
    stage, invalid, over = "starting", "", False
    for report in ended.reports:
        found |= report.get("found", {})
        unmeasured |= report.get("unmeasured", {})
        stage = report.get("stage", stage)
        invalid = report.get("invalid", invalid)
        over = over or _short_of_memory(invalid)
    if not invalid and ended.code != 0:
        invalid = f"{shown}/: {stage}: {_why(ended)}"
        over = _short_of_memory(ended.output)
    asked = {"memory": True, "speed": bool(repeats), "perplexity": bool(text)}
    for name in SOMETIMES:
        if name not in found and name not in unmeasured:
            unmeasured[name] = (invalid or "it did not come so far") if asked[name] else "not asked for"
    metrics = ModelMetrics.from_json({**on_disk, **found, "unmeasured": unmeasured})
    return Measured(
        metrics, one_line(invalid) if invalid else "", bool(memory_cap_bytes) and over and metrics.memory is None
    )


def _on_disk(folder: Path) -> dict[str, Any]:
    files = sorted(folder.glob("*.safetensors"))
    try:
        entries = list(open_weights(folder))
    except ValueError:
        return {"size_bytes": sum(file.stat().st_size for file in files)}
    dtypes: dict[str, int] = {}
    for entry in entries:
        dtypes[entry.dtype] = dtypes.get(entry.dtype, 0) + entry.elements
    return {"size_bytes": sum(file.stat().st_size for file in files), "dtypes": dtypes}


def _short_of_memory(said: str) -> bool:
    return any(words in said for words in _OUT_OF_MEMORY)


def _why(ended: Finished) -> str:
    """How it ended, and the line of its last words that says most where it crashed by itself."""
    lines = [line for line in ended.output.strip().splitlines() if not line.startswith(("note:", "Loading weights"))]
    if ended.timed_out or not lines:
        return ended.how
    return f"{ended.how} ({one_line(next((line for line in lines if _short_of_memory(line)), lines[-1]))})"
