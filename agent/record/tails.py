"""The short series that a summary carries for sparklines: a training's loss, and how busy its machine was."""

from agent.record.values import Gpu, Host, RunSummary

LOSS_TAIL = 24
BUSY_TAIL = 24
_BUSY_EVERY_S = 15.0
_SILENT_S = 30.0
"""A training that has told no loss for so long makes room for another one that does."""
Changes = dict[str, object]


def with_loss(summary: RunSummary, call_id: str, at: float, loss: float | None) -> Changes:
    """The newest training's losses, thinned evenly as they become many; the last is always the newest."""
    if loss is None:
        return {}
    if call_id != summary.loss_call:
        # Of two that train at the same time, the first is shown, and not each for a moment.
        if summary.loss_at is not None and at - summary.loss_at < _SILENT_S:
            return {}
        return {"loss_call": call_id, "loss_at": at, "loss_tail": (loss,), "loss_stride": 1, "loss_skipped": 0}
    tail, stride, skipped = summary.loss_tail, summary.loss_stride, summary.loss_skipped + 1
    if skipped < stride:
        return {"loss_at": at, "loss_tail": (*tail[:-1], loss), "loss_skipped": skipped}
    tail = (*tail, loss)
    if len(tail) > LOSS_TAIL:
        tail, stride = tail[::-2][::-1], stride * 2
    return {"loss_at": at, "loss_tail": tail, "loss_stride": stride, "loss_skipped": 0}


def without_training(summary: RunSummary, call_id: str) -> Changes:
    """A call has ended: the next training need not wait until it has been silent."""
    return {"loss_at": None} if call_id == summary.loss_call else {}


def with_gpus(summary: RunSummary, at: float, gpus: tuple[Gpu, ...]) -> Changes:
    """How busy the run's GPUs are, taken together."""
    told = [gpu.utilization_percent for gpu in gpus if gpu.utilization_percent is not None]
    return _with_busy(summary, at, sum(told) / len(told), anew=not summary.gpus) if told else {}


def with_cpu(summary: RunSummary, at: float, host: Host) -> Changes:
    """How busy the run's cores are, where it has no GPU."""
    if summary.gpus or host.cpu_percent is None:
        return {}
    return _with_busy(summary, at, min(100.0, host.cpu_percent / (host.cpu_cores or 1.0)))


def _with_busy(summary: RunSummary, at: float, percent: float, *, anew: bool = False) -> Changes:
    """Each value is the last of its 15 s."""
    tail = () if anew else summary.busy_tail
    if tail and at - summary.busy_tail_at < _BUSY_EVERY_S:
        return {"busy_tail": (*tail[:-1], percent)}
    return {"busy_tail": (*tail, percent)[-BUSY_TAIL:], "busy_tail_at": at}
