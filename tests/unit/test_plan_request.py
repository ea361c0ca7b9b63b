"""From what a person asks for to a request: defaults are filled in, mistakes are told before anything starts."""

from pathlib import Path

import msgspec
import pytest

from agent.errors import ModelUnavailable
from agent.record.home import Home
from agent.record.values import Limits
from mlrb_tui.control.form import LaunchForm, limit_fields, requests
from mlrb_tui.control.plan import missing_key, plan_request, task_limits
from tasks.catalogue import load
from tasks.errors import MlrbError, UsageError

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
        home, TASK, sandbox="local", model="scripted", seed=7, limit_assignments=["time=5m", "steps=+1", "cost=none"]
    )
    own = task_limits(load(TASK), "smoke")
    assert own.steps is not None
    assert request.limits == Limits(time_s=300.0, steps=own.steps + 1)
    assert (request.sandbox, request.model, request.seed) == ("local", "scripted", 7)


@pytest.mark.parametrize(
    "wrong",
    [
        {"task_name": "mlgym/nosuch"}, {"scale": "huge"}, {"model": "gpt"}, {"model": "openai:"}, {"model": "cohere:x"},
        {"model": "openai:x", "base_url": "localhost"}, {"sandbox": "podman"}, {"sandbox": "docker host"},
        {"gpus": "all"}, {"scaffold": "nosuch"}, {"limit_assignments": ["time=soon"]}, {"limit_assignments": ["x=1"]},
        {"model": "scripted:"},
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
        Limits(time_s=0.0, cost_usd=0.25),
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
    request = plan_request(home, "mlgym/battle_of_sexes", model="scripted:mine.jsonl", sandbox="local")
    assert request.model == f"scripted:{tmp_path / 'mine.jsonl'}"
