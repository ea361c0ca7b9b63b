"""Values that were measured beside the agent's work: GPUs, the sandbox's use, a training's progress."""

import msgspec
from msgspec import Struct


class Gpu(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One sample of one GPU, or of one MIG slice of it; None is n/a."""

    index: int
    """Of the GPU in its machine; slices of one GPU share it and differ by `mig`."""
    name: str = ""
    uuid: str = ""
    mig: int | None = None
    """The slice's number in its GPU."""
    lost: bool = False
    """It was there and answers no more."""
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    utilization_percent: float | None = None
    power_w: float | None = None
    temperature_c: float | None = None
    processes: int | None = None
    """All that use it, whoever they belong to."""
    own_processes: int | None = None
    """Those of this run."""
    own_memory_bytes: int | None = None
    """What this run's processes hold."""
    ecc_errors: int | None = None
    """Memory errors since the driver was loaded that could not be corrected."""
    xid: int | None = None
    """The newest error of the driver's own list (an `Xid`) since the run started."""

    @property
    def slot(self) -> tuple[int, int | None]:
        """What tells it from the others of its machine."""
        return self.index, self.mig


class Host(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One sample of what a sandbox uses; None is n/a."""

    cpu_percent: float | None = None
    """Percent of one core: 200 is two cores busy."""
    cpu_cores: float | None = None
    memory_used_bytes: int | None = None
    memory_limit_bytes: int | None = None
    processes: int | None = None
    disk_free_bytes: int | None = None
    """Of the file system that the work folder lies on."""
    disk_total_bytes: int | None = None
    io_read_bytes_s: float | None = None
    io_write_bytes_s: float | None = None
    net_received_bytes_s: float | None = None
    net_sent_bytes_s: float | None = None
    oom_kills: int | None = None
    """Processes that the kernel has ended since the sandbox started because memory ran out."""
    machine_cpu_percent: float | None = None
    """Of all cores of the machine together: 100 is all of them busy, whoever uses them."""
    machine_memory_used_bytes: int | None = None
    machine_memory_total_bytes: int | None = None


class Progress(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one line of a command's output says of its training or evaluation."""

    values: dict[str, float] = msgspec.field(default_factory=dict)
    """By name: loss, accuracy, lr … Names starting with `eval_` are evaluation metrics."""
    step: int | None = None
    total: int | None = None
    rate: float | None = None
    rate_unit: str = ""
    """`tok/s`, `it/s`, `samples/s` …"""
    eta_s: float | None = None
    """As the line says; of an inner bar it is that bar's own."""
    diverged: tuple[str, ...] = ()
    """Names whose value was NaN or infinite: JSON holds neither, so they can't stand among `values`."""
    label: str = ""
    """What stands in front of a progress bar, without its numbers."""
    epoch: int | None = None
    epochs: int | None = None
    """Epoch `epoch` of `epochs`, where the output counts them."""
    tokens_per_step: float | None = None
    data_tokens: float | None = None
    """How many tokens of text there are to train on, as the command says that it has loaded them."""
    command_eta_s: float | None = None
    """Until the whole command is done, as far as its output lets one tell."""
