"""No quantisation: of the configuration, of the stored dtypes, and of the values, whatever dtype they are kept in."""

import json
from pathlib import Path
from typing import Any

from evaluation.model.weights import Entry, open_weights
from evaluation.model.words import one_line
from tasks.contract import Broken

RULE = "no_quantisation"
FULL = ("F32", "F16", "BF16")
"""The dtypes of weights that count as not quantised, in safetensors' names."""
BOOKKEEPING = ("BOOL", "I64", "I32")
"""Masks and positions are kept in these; no weight is."""
CONFIG_KEYS = ("quantization_config", "load_in_8bit", "load_in_4bit", "quantization", "compression_config")
FEW_VALUES = 256
"""As many as eight bits can tell apart."""
LEAST_VALUES = 1024
"""Fewer weights than these in a tensor can't tell."""
GROUP = 32
FEW_IN_GROUP = 16
"""As many as four bits can tell apart; 32 free values in half precision nearly all differ."""
LEAST_IN_GROUP = 24
"""Groups with more zeros than that leaves are not looked at."""
_SAMPLED_ROWS = 32
_SAMPLED_LENGTH = 4096
_SAMPLED_GROUPS = 1024
_SAMPLED_VALUES = 20_000
_CONFIG_BYTES = 16 * 2**20


def quantised(
    folder: Path, *, allowed: tuple[str, ...] = FULL, original: Path | None = None, rule: str = RULE
) -> list[Broken]:
    """Each sign of quantisation in a model folder; pruned weights (zeros) are none.

    Three patterns of values are looked for, since values can be quantised and stored in full precision again: few in
    a whole tensor, few in its rows or columns (a scale each), few in groups of 32 (a scale each). They do not count
    where the tensor of that name in `original`, the model it was made of, has them too.
    """
    found = [{"rule": rule, "evidence": told} for told in _config_signs(folder)]
    given = open_weights(original).entries if original is not None else {}
    for entry in open_weights(folder):
        if entry.dtype in allowed:
            told = _value_signs(entry)
            if told and entry.name in given and _value_signs(given[entry.name]):
                continue
        elif entry.dtype in BOOKKEEPING or _is_mask(entry):
            continue
        else:
            told = f"is stored as {entry.dtype}"
        if told:
            found.append({"rule": rule, "evidence": f"{one_line(entry.name)} {told}"})
    return [Broken(rule=one["rule"], evidence=one["evidence"]) for one in found]


def _config_signs(folder: Path) -> list[str]:
    try:
        text = (folder / "config.json").read_bytes()[:_CONFIG_BYTES]
        config = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return []
    if not isinstance(config, dict):
        return []
    signs = [f"config.json has {key}: {one_line(config[key])}" for key in CONFIG_KEYS if config.get(key)]
    dtype = str(config.get("dtype") or config.get("torch_dtype") or "").removeprefix("torch.")
    if dtype and dtype not in ("float32", "float16", "bfloat16", "float64"):
        signs.append(f"config.json says dtype {one_line(dtype)}")
    return signs


def _is_mask(entry: Entry) -> bool:
    """Old GPT-2 files hold their causal mask in bytes: zeros and ones."""
    if entry.dtype != "U8" or not entry.name.endswith((".attn.bias", ".attention.bias")):
        return False
    return int(entry.read().max()) <= 1


def _value_signs(entry: Entry) -> str:
    """What the values of a tensor tell, or nothing."""
    if len(entry.shape) < 2 or entry.elements < LEAST_VALUES:
        return ""
    table = entry.read().float().reshape(entry.shape[0], -1)
    nonzero = int(table.count_nonzero())
    if nonzero < LEAST_VALUES:
        return ""
    if (values := _few_in_all(table)) and values <= FEW_VALUES:
        return f"has {values} different values in {nonzero:,} weights ({entry.dtype})"
    for what, rows in (("row", table), ("column", table.T)):
        if few := _few_by_row(rows, FEW_VALUES, 2 * FEW_VALUES):
            return f"has {few} different values in a typical {what} of {rows.shape[1]:,} ({entry.dtype})"
    usable = table.numel() // GROUP * GROUP
    if few := _few_by_row(table.reshape(-1)[:usable].reshape(-1, GROUP), FEW_IN_GROUP, LEAST_IN_GROUP):
        return f"has {few} different values in a typical group of {GROUP} weights ({entry.dtype})"
    return ""


def _few_in_all(table: Any) -> int:
    """The number of different values, 0 where a sample shows already that they are many."""
    flat = table.reshape(1, -1)
    if _distinct(flat[:, :: max(1, flat.shape[1] // _SAMPLED_VALUES)])[0] > FEW_VALUES:
        return 0
    return _distinct(flat)[0]


def _few_by_row(rows: Any, few: int, least: int) -> int:
    """The median number of different values in rows with at least `least` of them that aren't zero, if it is few."""
    import torch

    if rows.shape[1] < least:
        return 0
    count = _SAMPLED_GROUPS if rows.shape[1] == GROUP else _SAMPLED_ROWS
    sample = rows[:: max(1, len(rows) // count), :_SAMPLED_LENGTH]
    sample = sample[sample.count_nonzero(dim=1) >= least]
    if not len(sample):
        return 0
    median = int(torch.tensor(_distinct(sample)).median())
    return median if median <= few else 0


def _distinct(rows: Any) -> list[int]:
    """How many different values each row has, zero not counted."""
    ordered = rows.contiguous().sort(dim=1).values
    new = (ordered[:, 1:] != ordered[:, :-1]) & (ordered[:, 1:] != 0)
    first = ordered[:, :1] != 0
    counts: list[int] = (new.sum(dim=1) + first[:, 0]).tolist()
    return counts
