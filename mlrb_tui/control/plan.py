"""From what a person asks for to a request that a runner can take: defaults filled in, mistakes told."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from agent.errors import ModelUnavailable
from agent.record.home import Home
from agent.record.request import RunRequest
from agent.record.values import Limits, OnLimit, Scale
from agent.sandbox.gpu_wish import parse_wish
from agent.sandbox.machines import machine_of, on_another
from agent.scaffolds.catalogue import SCAFFOLDS
from mlrb_tui.control.amounts import given_limits
from mlrb_tui.control.preflight import check_place, check_script
from mlrb_tui.control.settings import read_settings
from tasks.catalogue import load
from tasks.errors import UsageError
from tasks.spec import Task

MODEL_KINDS = ("anthropic", "openai", "scripted")
_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
_SANDBOX = re.compile(r"local|docker(@\S+)?")


def plan_request(
    home: Home,
    task_name: str,
    *,
    scale: str = "smoke",
    scaffold: str = "",
    model: str = "",
    supervisor_model: str = "",
    base_url: str = "",
    sandbox: str = "",
    image: str = "",
    gpus: str = "",
    seed: int = 0,
    limit_assignments: Sequence[str] = (),
    pace_s: float = 0.0,
    approve: bool = False,
    on_limit: OnLimit | None = None,
    environment: Mapping[str, str] = os.environ,
    reach: bool = True,
) -> RunRequest:
    """The request for a run of that task; what is left empty comes from the settings, then from the task.

    Without `reach` no other machine is asked whether it can take the run: that may last.
    """
    settings = read_settings(home)
    task = load(task_name)
    known_scale = checked_scale(task, scale)
    chosen_model = model or settings.model or "scripted"
    url = base_url or (settings.base_url if chosen_model.startswith("openai:") else "")
    check_model(chosen_model, url, environment)
    wish = parse_wish(gpus, of_task=task.at(known_scale).compute.gpus)
    kind, notice = choose_sandbox(home, sandbox or settings.sandbox, image)
    placed_model = _placed(chosen_model)
    check_script(placed_model, task)
    led_by = _checked_scaffold(scaffold or settings.scaffold)
    supervisor = _supervisor(led_by, supervisor_model, settings.supervisor_model)
    if supervisor:
        same = supervisor.partition(":")[0] == chosen_model.partition(":")[0]
        check_model(supervisor, url if same else "", environment)
        check_script(supervisor, task)
    if reach or not on_another(kind):
        check_place(home, kind, image, wish)
    return RunRequest(
        run="",
        task=task.spec.name,
        scale=known_scale,
        scaffold=led_by,
        model=placed_model,
        supervisor_model=supervisor,
        base_url=url,
        sandbox=kind,
        sandbox_notice=notice,
        image=image,
        gpus=gpus,
        seed=seed,
        limits=given_limits(task_limits(task, known_scale), limit_assignments),
        pace_s=pace_s,
        approve=approve,
        approve_rules=settings.approve,
        alarms=settings.alarms,
        research=settings.research,
        gpu_usd_per_hour=settings.gpu_usd_per_hour,
        on_limit=on_limit or settings.on_limit,
    )


def task_limits(task: Task, scale: Scale) -> Limits:
    """What a run of the task may use unless a person says otherwise."""
    given = task.at(scale).limits
    return Limits(time_s=given.time_s, steps=given.steps, cost_usd=given.cost_usd)


def checked_scale(task: Task, scale: str) -> Scale:
    """The scale, if the task has it."""
    for known in get_args(Scale):
        if scale == known and known in task.spec.scales:
            found: Scale = known
            return found
    raise UsageError(f"{task.spec.name} has no scale {scale!r}", hint=f"it has {', '.join(task.spec.scales)}")


def check_model(model: str, base_url: str, environment: Mapping[str, str] = os.environ) -> None:
    """Raise where a model's name can't be read (`UsageError`) or its key is missing (`ModelUnavailable`)."""
    kind, colon, name = model.partition(":")
    if kind not in MODEL_KINDS or (colon and not name) or (kind != "scripted" and not name):
        raise UsageError(
            f"{model!r} names no model", hint="write anthropic:NAME, openai:NAME, scripted or scripted:FILE"
        )
    if base_url and not base_url.startswith(("http://", "https://")):
        raise UsageError(f"{base_url!r} is no address of a server", hint="write http://HOST:PORT/v1")
    key = missing_key(model, base_url, environment)
    if key:
        hint = f"export {key}=… or name a server with a base URL"
        raise ModelUnavailable(f"{key} is not set, and {model} needs it", hint=hint)


def missing_key(model: str, base_url: str, environment: Mapping[str, str] = os.environ) -> str:
    """The environment variable that a model needs and that is not set; empty where all is there."""
    kind = model.partition(":")[0]
    key = _KEYS.get(kind, "")
    # Servers of one's own mostly want none, and Anthropic takes a token in place of a key.
    spared = base_url or environment.get(key) or (kind == "anthropic" and environment.get("ANTHROPIC_AUTH_TOKEN"))
    return "" if spared else key


def choose_sandbox(home: Home, wish: str, image: str = "") -> tuple[str, str]:
    """The sandbox for that wish, and a warning where `auto` (docker, if it works here) had to become local."""
    if wish != "auto":
        if not _SANDBOX.fullmatch(wish):
            raise UsageError(f"{wish!r} is no sandbox", hint="sandboxes are auto, local, docker and docker@HOST")
        machine_of(home, wish)
        return wish, ""
    from agent.sandbox.choose import kind_without_wish

    return kind_without_wish(image)


def _placed(model: str) -> str:
    """The model's name with a script's path made absolute: the runner works in another folder."""
    kind, _, path = model.partition(":")
    return f"scripted:{Path(path).expanduser().absolute()}" if kind == "scripted" and path else model


def _supervisor(scaffold: str, wish: str, setting: str) -> str:
    """The supervisor's own model, where the scaffold has a supervisor and one is named."""
    if scaffold == "mlrb":
        return _placed(wish or setting)
    if wish:
        raise UsageError(f"{scaffold} has no supervisor", hint="--scaffold mlrb has one")
    return ""


def _checked_scaffold(name: str) -> str:
    if name not in SCAFFOLDS:
        raise UsageError(f"there is no scaffold {name!r}", hint=f"scaffolds are {', '.join(SCAFFOLDS)}")
    return name
