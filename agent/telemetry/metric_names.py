"""The names that trainers give their figures, and the one that each is kept under."""

import re

MOST_VALUES = 16

KNOWN = {
    "loss": "loss", "train_loss": "loss", "training_loss": "loss", "nll": "loss", "mse": "mse", "mae": "mae",
    "rmse": "rmse", "r2": "r2", "acc": "accuracy", "accuracy": "accuracy", "train_acc": "accuracy",
    "train_accuracy": "accuracy", "ppl": "perplexity", "perplexity": "perplexity", "lr": "lr",
    "learning_rate": "lr", "grad_norm": "grad_norm", "f1": "f1", "bleu": "bleu", "score": "score",
    "reward": "reward", "payoff": "payoff", "mfu": "mfu",
}  # fmt: skip
COMPANIONS = {
    "tokens": "tokens", "tokens_seen": "tokens", "train_tokens": "tokens", "num_tokens": "tokens",
    "num_input_tokens_seen": "tokens", "consumed_tokens": "tokens",
}  # fmt: skip
"""Figures that say something of a training only beside one of the known ones."""
COUNTS = {"step", "global_step", "iter", "iteration", "eta", "seed", "total", "max_steps", "epochs"}
"""Figures that say where a training is and not how it goes."""

_EVAL_PREFIX = re.compile(r"(?:val|valid|validation|eval|test|dev)_(.+)")
_TRAIN_PREFIX = re.compile(r"train(?:ing)?_(.+)")
_NO_WORD = re.compile(r"[^a-z0-9]+")


def kept_name(name: str) -> str | None:
    """The name that a figure is kept under, those of an evaluation with `eval_` in front; None for an unknown one.

    `name` is in lower case, its words joined by underscores.
    """
    if name in KNOWN:
        return KNOWN[name]
    if (found := _EVAL_PREFIX.fullmatch(name)) and (tail := found[1]) in KNOWN:
        return f"eval_{KNOWN[tail]}"
    return None


def any_name(raw: str) -> str:
    """The name for a figure out of a metrics file, where the writer's own name may be anything: `val/Loss` …

    Its words are joined by underscores; what nobody knows is kept as it is, an evaluation's with `eval_` in front.
    """
    name = _NO_WORD.sub("_", raw.lower()).strip("_")[:64]
    if (known := kept_name(name)) is not None:
        return known
    if name in COMPANIONS:
        return COMPANIONS[name]
    if (found := _EVAL_PREFIX.fullmatch(name)) is not None:
        return f"eval_{found[1]}"
    if (found := _TRAIN_PREFIX.fullmatch(name)) is not None:
        return found[1]
    return name
