"""The machine that a sandbox shares with others: how busy it is as a whole."""

import msgspec
import psutil

from agent.record.values import Host


class Machine:
    """Samples this machine; CPU is the mean since the sample before."""

    def __init__(self) -> None:
        psutil.cpu_percent(None)

    def beside(self, host: Host) -> Host:
        """A sandbox's sample with the machine's figures beside it."""
        memory = psutil.virtual_memory()
        return msgspec.structs.replace(
            host,
            machine_cpu_percent=psutil.cpu_percent(None),
            machine_memory_used_bytes=memory.total - memory.available,
            machine_memory_total_bytes=memory.total,
        )
