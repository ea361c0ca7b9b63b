"""`mlrb doctor` finds what is wrong, and names the command that mends it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.record.home import Home
from mlrb_tui.control.doctor import file_system
from tests.process.fake_gpus import FakeGpus


def findings(home: Path, **more: str) -> tuple[int, dict[str, dict[str, str]]]:
    """The exit code, and the findings by what they are about."""
    Home(home).ensure()
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    ran = subprocess.run(
        [sys.executable, "-m", "mlrb_tui.cli", "doctor", "--json"],
        env={**kept, "MLRB_HOME": str(home), "LANG": "C.UTF-8", "TERM": "xterm", **more},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in ran.stderr, ran.stderr
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    assert all(one["mend"] for one in found if one["state"] == "bad")
    return ran.returncode, {one["about"]: one for one in found}


def test_missing_daemon_and_mistakes_in_both_files_are_found_at_once(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").ensure()
    home.settings.write_text("modell = 'x'\n")
    (home.path / "hosts.toml").write_text("[box]\nmax_run = 1\n")
    code, found = findings(home.path, DOCKER_HOST=f"unix://{tmp_path}/nothing.sock", TERM="dumb")
    assert code == 6
    assert {about: one["state"] for about, one in found.items() if one["state"] != "ok"} == {
        "terminal": "note", "settings": "bad", "models": "note", "docker": "bad", "hosts": "bad",
    }  # fmt: skip
    assert "modell" in found["settings"]["said"]
    assert "max_run" in found["hosts"]["said"]
    assert "DOCKER_HOST" in found["docker"]["mend"]
    assert "ANTHROPIC_API_KEY" in found["models"]["mend"]


def test_key_that_is_there_is_not_asked_for(tmp_path: Path) -> None:
    _, found = findings(tmp_path / "home", ANTHROPIC_API_KEY="sk-1", OPENAI_API_KEY="sk-2")
    assert found["models"]["state"] == "ok"
    assert "sk-" not in json.dumps(found)


def test_driver_that_does_not_work_is_found(tmp_path: Path) -> None:
    FakeGpus(tmp_path / "bin").says("NVIDIA-SMI has failed because it couldn't communicate with the driver.\n", code=9)
    code, found = findings(tmp_path / "home", PATH=f"{tmp_path}/bin:{os.environ['PATH']}")
    assert code == 6
    assert "communicate with the driver" in found["host local"]["said"]
    assert found["host local"]["mend"] == "nvidia-smi"


def test_machine_that_is_not_reached_is_found(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").ensure()
    (home.path / "hosts.toml").write_text('["box.invalid"]\nlabels = ["x"]\n')
    code, found = findings(home.path)
    assert code == 6
    assert found["host box.invalid"]["state"] == "bad"


@pytest.mark.parametrize(("path", "kind"), [("/data/a b/c", "nfs4"), ("/data", "ext4"), ("/elsewhere", "overlay")])
def test_file_system_is_that_of_the_deepest_mount(tmp_path: Path, path: str, kind: str) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("overlay / overlay rw 0 0\n/dev/sda /data ext4 rw 0 0\nserver:/x /data/a\\040b nfs4 rw 0 0\n")
    assert file_system(Path(path), mounts) == kind
