"""The soak's judge finds a container that is left, as `docker ps` shows it."""

import subprocess
from pathlib import Path

from agent.sandbox.containers import labels
from agent.sandbox.engine import DEFAULT_IMAGE, DEFAULT_SOCKET
from tests.process.test_soak_judge import CLEAN, made, verdict


def test_container_that_is_left_is_found(tmp_path: Path) -> None:
    folder = made(tmp_path, CLEAN)
    daemons = [f"unix://{DEFAULT_SOCKET}"]
    marks = [f"--label={name}={value}" for name, value in labels(folder.run, "sandbox", "").items()]
    create = ["docker", "create", "--name", f"mlrb-{folder.run}", *marks, DEFAULT_IMAGE, "true"]
    subprocess.run(create, check=True, capture_output=True)
    try:
        assert verdict(folder, daemons=daemons) == [("leftover", f"container mlrb-{folder.run}: Created")]
    finally:
        subprocess.run(["docker", "rm", "--force", f"mlrb-{folder.run}"], check=True, capture_output=True)
    assert verdict(folder, daemons=daemons) == []
