"""From what a person asks for to a request: defaults are filled in, mistakes are told before anything starts."""

import shutil
from pathlib import Path

import msgspec
import pytest

from agent.errors import ModelUnavailable, SandboxUnavailable
from agent.record.home import Home
from agent.record.values import Limits
from mlrb_tui.control.form import LaunchForm, limit_fields, requests
from mlrb_tui.control.plan import missing_key, plan_request, task_limits
from tasks.catalogue import load
from tasks.errors import MlrbError, UsageError
from tests.process.fake_gpus import FakeGpus, row

TASK = "mlgym/battle_of_sexes"
FORM = LaunchForm(task=TASK, sandbox="local", model="scripted")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").ensure()


def test_what_is_left_empty_comes_from_the_task_and_the_settings(home: Home) -> None:
    home.settings.write_text('sandbox = "local"\nmodel = "scripted"\n')
    request = plan_request(home, TASK)
    assert (request.scale, request.scaffold, request.model, request.sandbox) == ("smoke", "react", "scripted", "local")
    assert request.limits == task_limits(load(TASK), "smoke")
    assert request.limits.time_s


def test_what_is_given_wins(home: Home) -> None:
    home.settings.write_text('sandbox = "docker"\nmodel = "openai:x"\n')
    request = plan_request(
        home, TASK, sandbox="local", model="scripted", seed=7, limit_assignments=["time=5m", "steps=7", "cost=none"]
    )
    assert request.limits == Limits(time_s=300.0, steps=7)
    assert (request.sandbox, request.model, request.seed) == ("local", "scripted", 7)


def test_supervisor_has_a_model_of_its_own_only_where_there_is_a_supervisor(home: Home, tmp_path: Path) -> None:
    home.settings.write_text('sandbox = "local"\nmodel = "scripted"\nsupervisor_model = "openai:lead"\n')
    with pytest.raises(ModelUnavailable, match="OPENAI_API_KEY"):
        plan_request(home, TASK, scaffold="mlrb", environment={})
    # The setting is for runs that have a supervisor, and keeps no other from starting.
    assert plan_request(home, TASK, environment={}).supervisor_model == ""
    script = tmp_path / "lead.jsonl"
    script.write_text('{"text": "hm", "worker": 0}\n')
    request = plan_request(home, TASK, scaffold="mlrb", supervisor_model=f"scripted:{script}", environment={})
    assert request.supervisor_model == f"scripted:{script}"


@pytest.mark.parametrize(
    "wrong",
    [
        {"task_name": "mlgym/nosuch"}, {"scale": "huge"}, {"model": "gpt"}, {"model": "openai:"}, {"model": "cohere:x"},
        {"model": "openai:x", "base_url": "localhost"}, {"sandbox": "podman"}, {"sandbox": "docker host"},
        {"gpus": "all"}, {"scaffold": "nosuch"}, {"limit_assignments": ["time=soon"]}, {"limit_assignments": ["x=1"]},
        {"limit_assignments": ["time=-5m"]}, {"limit_assignments": ["steps=+1"]}, {"limit_assignments": ["steps=0"]},
        {"limit_assignments": ["cost=$0"]},
        {"model": "scripted:"}, {"supervisor_model": "scripted"},
        {"scaffold": "mlrb", "supervisor_model": "gpt"},
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_a_hint(home: Home, wrong: dict[str, object]) -> None:
    arguments: dict[str, object] = {"task_name": TASK, "sandbox": "local", "model": "scripted"} | wrong
    with pytest.raises(UsageError) as caught:
        plan_request(home, **arguments)  # type: ignore[arg-type]
    assert caught.value.hint


def test_a_missing_key_is_told_before_a_run_is_made(home: Home) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        plan_request(home, TASK, model="anthropic:claude-sonnet-4-5", sandbox="local", environment={})
    assert "ANTHROPIC_API_KEY" in caught.value.message
    assert home.run_ids() == []


def test_what_cannot_start_is_refused_before_a_run_is_made(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "bad.jsonl"
    script.write_text('{"text": "hello"}\n{"tool": \n')
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    wrongs: list[tuple[dict[str, str], type[MlrbError], str]] = [
        ({"model": "scripted:/nosuch/script.jsonl"}, ModelUnavailable, "script.jsonl"),
        ({"model": f"scripted:{script}"}, ModelUnavailable, "line 2"),
        ({"model": f"scripted:{tmp_path}"}, ModelUnavailable, "directory"),
        ({"sandbox": "docker"}, SandboxUnavailable, "no Docker daemon answers"),
    ]
    for wrong, kind, said in wrongs:
        with pytest.raises(kind) as caught:
            plan_request(home, TASK, **({"sandbox": "local", "model": "scripted"} | wrong))  # type: ignore[arg-type]
        assert said in caught.value.message
        assert caught.value.hint
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    with pytest.raises(SandboxUnavailable, match="DOCKER_HOST"):
        plan_request(home, TASK, sandbox="docker", model="scripted")
    assert home.run_ids() == []


@pytest.mark.parametrize(
    ("listed", "gpus", "refused"),
    [
        (None, "1", True), (None, "none", False), (None, "", False), ("", "1", True),
        (row(0) + row(1), "2", False), (row(0), "2", True), (row(0, mig="[N/A]"), "0,1", True),
        (row(0) + row(1), "0,1", False), (row(0, mig="Enabled"), "1", True),
    ],
)  # fmt: skip
def test_gpus_that_are_not_there_are_refused_before_a_run_is_made(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: str | None, gpus: str, refused: bool
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    if listed is not None:
        FakeGpus(tools).says(listed)
    for tool in ("timeout", "cat", "dirname"):
        (tools / tool).symlink_to(shutil.which(tool) or tool)
    monkeypatch.setenv("PATH", str(tools))
    if refused:
        with pytest.raises(SandboxUnavailable, match="this machine has"):
            plan_request(home, TASK, sandbox="local", model="scripted", gpus=gpus)
    else:
        assert plan_request(home, TASK, sandbox="local", model="scripted", gpus=gpus).gpus == gpus


def test_a_server_of_ones_own_needs_no_key(home: Home) -> None:
    assert missing_key("openai:smol", "http://127.0.0.1:1/v1", {}) == ""
    assert missing_key("openai:smol", "", {}) == "OPENAI_API_KEY"
    assert missing_key("anthropic:smol", "http://127.0.0.1:1/v1", {}) == ""
    assert missing_key("anthropic:claude", "", {"ANTHROPIC_AUTH_TOKEN": "t"}) == ""
    assert missing_key("anthropic:claude", "", {}) == "ANTHROPIC_API_KEY"
    url = "http://127.0.0.1:1/v1"
    assert plan_request(home, TASK, model="openai:smol", base_url=url, sandbox="local", environment={}).base_url == url


def test_a_configured_server_is_not_used_for_another_vendor(home: Home) -> None:
    home.settings.write_text('base_url = "http://127.0.0.1:1/v1"\n')
    request = plan_request(home, TASK, model="anthropic:x", sandbox="local", environment={"ANTHROPIC_API_KEY": "k"})
    assert request.base_url == ""


# ── the form ─────────────────────────────────────────────────────────────────────────────────────────────


def test_limits_survive_the_way_through_the_form(home: Home) -> None:
    for limits in (
        Limits(time_s=86_400.0, steps=200, cost_usd=4.5, tokens=2_000_000),
        Limits(time_s=5_461.0),
        Limits(time_s=1.0, cost_usd=0.25),
        Limits(),
    ):
        assert requests(home, limit_fields(FORM, limits))[0].limits == limits


def test_repeats_have_seeds_that_follow_each_other(home: Home) -> None:
    form = LaunchForm(task=TASK, sandbox="local", model="scripted", seed="5", repeat="3")
    assert [request.seed for request in requests(home, form)] == [5, 6, 7]


@pytest.mark.parametrize(
    "wrong", [{"repeat": "0"}, {"repeat": "1000"}, {"repeat": "two"}, {"repeat": ""}, {"seed": "-1"}, {"seed": "²"}]
)
def test_a_field_that_will_not_do_is_named(home: Home, wrong: dict[str, str]) -> None:
    with pytest.raises(MlrbError) as caught:
        requests(home, msgspec.convert({"task": TASK, "sandbox": "local", "model": "scripted"} | wrong, LaunchForm))
    assert next(iter(wrong)) in caught.value.message


def test_a_script_is_found_from_where_it_was_named(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.jsonl").write_text('{"text": "hello"}\n')
    request = plan_request(home, "battle_of_sexes", model="scripted:mine.jsonl", sandbox="local")
    assert request.task == "mlgym/battle_of_sexes"
    assert request.model == f"scripted:{tmp_path / 'mine.jsonl'}"
