"""The first event of a run, out of what was asked for."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from agent.record import events as ev
from agent.record.request import RunRequest


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
