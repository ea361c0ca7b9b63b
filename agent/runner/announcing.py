"""What a run begins with, as events: what was asked for, and what the agent works in."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from agent.record import events as ev
from agent.record.request import RunRequest
from agent.sandbox.base import StartedSandbox


def run_created(request: RunRequest) -> ev.RunCreated:
    """The event that says what was asked for."""
    return ev.RunCreated(
        run=request.run,
        task=request.task,
        scale=request.scale,
        scaffold=request.scaffold,
        model=_named(request.model),
        sandbox=request.sandbox,
        seed=request.seed,
        limits=request.limits,
        who=request.who,
        version=_version(),
        approve=request.approve,
        on_limit=request.on_limit,
        gpu_usd_per_hour=request.gpu_usd_per_hour,
        supervisor_model=_named(request.supervisor_model),
    )


def sandbox_started(request: RunRequest, started: StartedSandbox, *, network: bool, placed: str) -> ev.SandboxStarted:
    """The event that says what the agent works in; `placed` is what one would not expect of its place."""
    notices = (request.sandbox_notice, started.notice, placed)
    return ev.SandboxStarted(
        sandbox=started.sandbox,
        name=started.name,
        image=started.image,
        workdir=started.workdir,
        network=network,
        isolates=started.isolates,
        notice="; ".join(notice for notice in notices if notice),
        guest=started.guest,
    )


def _named(model: str) -> str:
    """The model's name for the record: a script's folder is this machine's affair."""
    provider, _, rest = model.partition(":")
    return f"scripted:{Path(rest).name}" if provider == "scripted" and rest else model


def _version() -> str:
    try:
        return version("mlrb")
    except PackageNotFoundError:
        return ""
