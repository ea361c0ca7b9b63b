"""`hosts.toml` is read strictly: a mistake in it is one clear error, and no name in it becomes an option of ssh."""

from pathlib import Path

import pytest

from agent.record.home import Home
from agent.sandbox.machines import HERE, machine, machine_of, machines
from tasks.errors import UsageError

_FILE = """
[a100]
ssh = "ann@a100.example.org"
ssh_options = ["-J", "bastion"]
socket = "/run/user/1000/podman/podman.sock"
gpus = [0, "MIG-c7384736-a75d-5afc-978f-d2f1294409fd"]
max_runs = 3
labels = ["a100", "lab"]
cost_per_hour = 1.5

[local]
gpus = "none"
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").ensure()


def write(home: Home, text: str) -> None:
    (home.path / "hosts.toml").write_text(text)


def test_everything_that_a_machine_may_have_is_read(home: Home) -> None:
    write(home, _FILE)
    found = machines(home)
    assert list(found) == [HERE, "a100"]
    one = found["a100"]
    assert (one.target, one.ssh_options, one.max_runs) == ("ann@a100.example.org", ("-J", "bastion"), 3)
    assert one.gpus == (0, "MIG-c7384736-a75d-5afc-978f-d2f1294409fd")
    assert found[HERE].gpus == "none"


def test_without_a_file_ssh_knows_the_name(home: Home) -> None:
    assert list(machines(home)) == [HERE]
    assert machine(home, "ann@box").target == "ann@box"
    assert machine_of(home, "docker@box").name == "box"
    assert machine_of(home, "docker").here
    assert machine_of(home, "local").here


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a]\nsocket = 'docker.sock'\n", "absolute path"), ("[a]\nmax_run = 3\n", "max_run"),
        ("[a]\nmax_runs = 0\n", "max_runs"), ("[a]\ngpus = 'some'\n", "gpus"), ("[a\n", "not TOML"),
        ("[a]\ncost_per_hour = 'much'\n", "cost_per_hour"), ("[local]\nssh = 'other'\n", "this machine"),
        ("[a]\nssh = '-oProxyCommand=id'\n", "no name of a host"), ("['-a']\n", "no name of a host"),
        ("['a b']\n", "no name of a host"), ("a = 1\n", "hosts.toml"),
    ],
)  # fmt: skip
def test_mistake_is_named_with_its_file(home: Home, text: str, said: str) -> None:
    write(home, text)
    with pytest.raises(UsageError) as error:
        machines(home)
    assert said in error.value.message
    assert "hosts.toml" in error.value.message


def test_sandbox_whose_host_would_be_an_option_is_refused(home: Home) -> None:
    with pytest.raises(UsageError):
        machine_of(home, "docker@-oProxyCommand=id")
