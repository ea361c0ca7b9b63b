"""When a run raises an alarm: the `[alarms]` table of the settings, and of `run.toml` for one run."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Alarm = Literal[
    "gpu_idle", "gpu_silent", "gpu_trouble", "diverged", "loop", "malformed", "disk", "memory", "out_of_memory",
    "no_checkpoint", "too_slow", "little_data", "touched",
]  # fmt: skip
"""The alarms that there are, by name."""

_Seconds = Annotated[float, Meta(gt=0)]
_Percent = Annotated[float, Meta(ge=0, le=100)]
_Share = Annotated[float, Meta(ge=0, le=1)]
_Count = Annotated[int, Meta(ge=1)]


class AlarmSettings(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Thresholds of the alarms, which of them are off, and of which the agent is told."""

    off: Annotated[tuple[Alarm, ...], Meta(description="alarms that are never raised")] = ()
    remind: Annotated[
        tuple[Alarm, ...], Meta(description="alarms that the agent is told of by itself, with its next message")
    ] = ()
    gpu_idle_s: Annotated[_Seconds, Meta(description="a command runs and its GPUs do nothing for so long")] = 300.0
    gpu_idle_percent: Annotated[_Percent, Meta(description="use of a GPU that counts as nothing")] = 5.0
    gpu_silent_s: Annotated[_Seconds, Meta(description="a GPU works and the command prints nothing for so long")] = (
        1800.0
    )
    exploding: Annotated[
        float, Meta(gt=1, description="times the best loss that the loss may rise to, once it is above its first")
    ] = 3.0
    same_action: Annotated[_Count, Meta(description="the same call so often in a row")] = 5
    malformed: Annotated[_Count, Meta(description="of the last ten calls, so many could not be run")] = 3
    disk_free_percent: Annotated[_Percent, Meta(description="of the disk with the work folder, so little is free")] = (
        5.0
    )
    memory_percent: Annotated[_Percent, Meta(description="of the memory limit, so much is used")] = 92.0
    checkpoint_age_s: Annotated[_Seconds, Meta(description="a training has written no checkpoint for so long …")] = (
        1800.0
    )
    checkpoint_left_s: Annotated[_Seconds, Meta(description="… with no more than so long of the time limit left")] = (
        3600.0
    )
    data_share: Annotated[
        _Share, Meta(description="of the tokens there are, a training that has ended consumed less than this share")
    ] = 0.1
