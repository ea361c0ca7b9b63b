"""A Docker daemon with NVIDIA's runtime, as it believes; the hook brings a made-up driver into containers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.docker.private_daemon import PrivateDaemon, private_daemon
from tests.gpu.fakes import FakeNvml

SETTINGS = "/etc/fake-nvml"
_HOOK = r"""#!/usr/bin/python3
# As NVIDIA's own: called before a container starts, it puts the driver's library and the GPUs wished for into it.
import json, os, shutil, sys
bundle = json.load(sys.stdin)["bundle"]
with open(os.path.join(bundle, "config.json")) as file:
    config = json.load(file)
environment = dict(one.split("=", 1) for one in config["process"]["env"])
uuids = [uuid for uuid in environment.get("NVIDIA_VISIBLE_DEVICES", "").split(",") if uuid.startswith("GPU-")]
root = os.path.join(bundle, config["root"]["path"])
shutil.copy({library!r}, root + "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1")
with open(root + {settings!r}, "w") as file:
    first = int(uuids[0][4:12]) if uuids else 0
    file.write(f"count {{len(uuids)}}\nfirst {{first}}\nused_mib 1024\n")
"""


@contextmanager
def gpu_daemon(folder: Path) -> Iterator[PrivateDaemon]:
    """It, for as long as the block lasts."""
    library = FakeNvml(folder).folder / "libnvidia-ml.so.1"
    # Docker looks for NVIDIA's runtime by the name of its hook.
    hook = folder / "nvidia-container-runtime-hook"
    hook.write_text(_HOOK.format(library=str(library), settings=SETTINGS))
    hook.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(folder), prepend=":")
        with private_daemon() as running:
            yield running


def drive(daemon: PrivateDaemon, container: str, **settings: int) -> None:
    """Have the driver in a container answer so from now on; readers never see half of it."""
    lines = "".join(f"{name.replace('__', '.')} {value}\n" for name, value in settings.items())
    write = f"printf '{lines}' >{SETTINGS}.new && mv {SETTINGS}.new {SETTINGS}"
    daemon.docker("exec", "--user", "0", container, "sh", "-c", write)
