"""The names that trainers give their figures, and the one that each is kept under."""

import re

MOST_VALUES = 16

KNOWN = {
    "loss": "loss", "train_loss": "loss", "training_loss": "loss", "train_loss_step": "loss", "loss_train": "loss",
    "total_loss": "loss", "avg_loss": "loss", "mean_loss": "loss", "average_loss": "loss", "running_loss": "loss",
    "lm_loss": "loss", "nll": "loss", "logloss": "logloss", "log_loss": "logloss", "mse": "mse", "mae": "mae",
    "rmse": "rmse", "r2": "r2", "l1": "l1", "l2": "l2", "auc": "auc", "acc": "accuracy", "accuracy": "accuracy",
    "train_acc": "accuracy", "train_accuracy": "accuracy", "acc_1": "accuracy", "top1": "accuracy",
    "acc_5": "top5_accuracy", "top5": "top5_accuracy", "ppl": "perplexity", "perplexity": "perplexity", "lr": "lr",
    "learning_rate": "lr", "grad_norm": "grad_norm", "gnorm": "grad_norm", "f1": "f1", "bleu": "bleu",
    "rouge1": "rouge1", "rouge2": "rouge2", "rougel": "rougel", "wer": "wer", "miou": "miou",
    "exact_match": "exact_match", "bpb": "bpb", "bits_per_byte": "bpb", "score": "score", "reward": "reward",
    "mean_reward": "reward", "avg_reward": "reward", "episode_reward": "reward", "ep_rew_mean": "reward",
    "mean_return": "reward", "avg_return": "reward", "episode_return": "reward",
    "episodic_return": "reward", "payoff": "payoff", "mfu": "mfu",
}  # fmt: skip
COMPANIONS = {
    "tokens": "tokens", "tokens_seen": "tokens", "train_tokens": "tokens", "num_tokens": "tokens",
    "num_input_tokens_seen": "tokens", "consumed_tokens": "tokens",
}  # fmt: skip
"""Figures that say something of a training only beside one of the known ones."""
COUNTS = {
    "step", "steps", "global_step", "current_steps", "total_steps", "iter", "iteration", "eta", "seed", "total",
    "max_steps", "epochs", "num_updates",
}  # fmt: skip
"""Figures that say where a training is and not how it goes."""
SETTINGS = frozenset({"lr", "grad_norm", "mfu", "tokens"})
"""Figures of how a training is done: no evaluation has one of its own."""
PROCESS_ONLY = frozenset({"lr"})
"""A figure that stands in configurations as often as in logs: alone it says nothing of a training."""

_EVAL_PREFIX = re.compile(r"(?:val|valid|validation|eval|test|dev)_(.+)")
_EVAL_SUFFIX = re.compile(r"(.+)_(?:val|valid|validation|eval|test|dev)")
_TRAIN_PREFIX = re.compile(r"train(?:ing)?_(.+)")
# `policy_loss`, `d_loss` …: a part of the loss, kept under its own name. The best of all is none of now.
_PART_OF_LOSS = re.compile(r"(?!best|min|max|prev|last|lowest|init|target)[a-z0-9_]+_loss")
_NO_WORD = re.compile(r"[^a-z0-9]+")


def kept_name(name: str) -> str | None:
    """The name that a figure is kept under, those of an evaluation with `eval_` in front; None for an unknown one.

    `name` is in lower case, its words joined by underscores.
    """
    if name in KNOWN:
        return KNOWN[name]
    if (found := _TRAIN_PREFIX.fullmatch(name)) is not None and found[1] in KNOWN:
        return KNOWN[found[1]]
    found = _EVAL_PREFIX.fullmatch(name) or _EVAL_SUFFIX.fullmatch(name)
    if found is not None:
        tail = kept_name(found[1])
        return f"eval_{tail}" if tail is not None and not tail.startswith("eval_") else None
    if name.endswith("_loss") and _PART_OF_LOSS.fullmatch(name):
        return name
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
