"""What is decided before a sandbox starts: owners in its archive, its variables, its kind, its image's parts."""

import tarfile
from pathlib import Path

import pytest

from agent.errors import SandboxUnavailable
from agent.sandbox.base import SandboxPlan
from agent.sandbox.choose import choose, docker_answers, kind_without_wish
from agent.sandbox.engine import daemon_socket, image_is_there
from agent.sandbox.environment import container_environment, local_environment
from agent.sandbox.image import matching_wheels, recipe_id
from agent.sandbox.luggage import AGENT_ID, packed


def plan_for(folder: Path, *read_only: str) -> SandboxPlan:
    workspace = folder / "workspace"
    (workspace / "data" / "deep").mkdir(parents=True)
    (workspace / "data" / "deep" / "rows.csv").write_text("1")
    (workspace / "train.py").write_text("pass")
    return SandboxPlan("r1", workspace, folder, read_only=read_only, environment=(("SEED", "7"),))


def test_guarded_paths_and_all_folders_above_them_belong_to_root(tmp_path: Path) -> None:
    with packed(plan_for(tmp_path, "data/deep")) as file, tarfile.open(fileobj=file) as archive:
        entries = {entry.name: (entry.uid, entry.mode) for entry in archive}
    work = "home/agent/workspace"
    assert entries[work] == (0, 0o1777)
    assert entries[f"{work}/data"] == (0, 0o1777)
    assert entries[f"{work}/data/deep"] == (0, 0o555)
    assert entries[f"{work}/data/deep/rows.csv"] == (0, 0o444)
    assert entries[f"{work}/train.py"][0] == AGENT_ID
    assert entries["opt/mlrb/guest/main.py"] == (0, 0o444)


def test_work_folder_is_the_agents_own_where_nothing_is_guarded(tmp_path: Path) -> None:
    with packed(plan_for(tmp_path)) as file, tarfile.open(fileobj=file) as archive:
        assert archive.getmember("home/agent/workspace").uid == AGENT_ID


def test_no_key_of_the_machine_gets_through(tmp_path: Path) -> None:
    machine = {
        "PATH": "/usr/bin",
        "OPENAI_API_KEY": "sk-1",
        "AWS_SECRET_ACCESS_KEY": "2",
        "HTTPS_PROXY": "http://user:pass@proxy",
        "PYTHONPATH": "/mine",
    }
    given = local_environment(plan_for(tmp_path), "/home/agent/workspace", machine)
    assert not {"OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY", "PYTHONPATH"} & set(given)
    assert given["PATH"].endswith(":/usr/bin")
    assert (given["HOME"], given["SEED"], given["TERM"]) == ("/home/agent/workspace", "7", "dumb")


def test_container_keeps_the_path_of_its_image(tmp_path: Path) -> None:
    given = container_environment(plan_for(tmp_path), "/home/agent")
    assert "PATH" not in given
    assert given["SEED"] == "7"


def test_silent_daemon_means_local_with_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    assert daemon_socket() == tmp_path / "none.sock"
    assert not docker_answers()
    assert not image_is_there("mlrb:latest")
    kind, warning = kind_without_wish("")
    assert kind == "local"
    assert "without isolation" in warning


def test_daemon_over_the_network_is_not_taken_for_a_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    assert daemon_socket() is None
    assert not docker_answers()


@pytest.mark.parametrize("kind", ["podman", "Docker"])
def test_kind_that_cannot_be_had_is_said_so(tmp_path: Path, kind: str) -> None:
    with pytest.raises(SandboxUnavailable):
        choose(kind, plan_for(tmp_path))


def test_only_wheels_that_are_asked_for_go_into_the_image(tmp_path: Path) -> None:
    for name in ("torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl", "scikit_learn-1.9-cp311.whl", "jax-1-py3.whl"):
        (tmp_path / name).touch()
    wanted = ("torch==2.13.0", "Scikit-Learn>=1.5", "lm-eval[hf]>=0.4")
    found = matching_wheels(wanted, f"https://example.invalid/wheels {tmp_path}")
    assert [path.name.partition("-")[0] for path in found] == ["scikit_learn", "torch"]
    assert matching_wheels(wanted, "") == []


def test_image_made_otherwise_is_another_image() -> None:
    assert recipe_id("debian", ("numpy",)) != recipe_id("debian", ("numpy", "torch"))
    assert recipe_id("debian", ("numpy",)) == recipe_id("debian", ("numpy",))
