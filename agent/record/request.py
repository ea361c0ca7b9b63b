"""What was asked for: `run.toml`, written once by the launcher."""

from pathlib import Path

import msgspec
from msgspec import Struct

from agent.errors import RecordError
from agent.record.alarm_settings import AlarmSettings
from agent.record.research_settings import ResearchSettings
from agent.record.values import ApproveRules, Limits, OnLimit, Scale


class RunRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A request for a run; everything a runner needs to know."""

    run: str
    task: str
    scale: Scale = "smoke"
    scaffold: str = "react"
    model: str = "scripted"
    """`anthropic:NAME`, `openai:NAME` or `scripted[:FILE]`."""
    supervisor_model: str = ""
    """The supervisor's, where a scaffold has one and it is not the workers'."""
    base_url: str = ""
    sandbox: str = "local"
    """`local`, `docker` or `docker@HOST`."""
    sandbox_notice: str = ""
    """Why the sandbox is not the one a person would expect."""
    image: str = ""
    gpus: str = ""
    seed: int = 0
    limits: Limits = Limits()
    on_limit: OnLimit = "end"
    """Whether a limit that is reached ends the run or pauses it."""
    approve: bool = False
    """Whether tool calls that change something wait for a person."""
    approve_rules: ApproveRules = ApproveRules()
    """What approve mode lets through, as the settings had it at the launch."""
    alarms: AlarmSettings = AlarmSettings()
    """When a run raises which alarm, as the settings had it at the launch."""
    research: ResearchSettings = ResearchSettings()
    """Where research tools ask, where the task allows network."""
    gpu_usd_per_hour: float | None = None
    """What one GPU costs, for the ledger."""
    who: str = ""
    pace_s: float = 0.0
    """Seconds that the scripted model takes over a reply; lets a demonstration be watched."""


def write_request(path: Path, request: RunRequest) -> None:
    """Write `run.toml`."""
    import tomli_w

    path.write_text(tomli_w.dumps(msgspec.to_builtins(request)), encoding="utf-8")
    path.chmod(0o600)


def read_request(path: Path) -> RunRequest:
    """Read `run.toml`."""
    import tomllib

    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), RunRequest)
    except (OSError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise RecordError(f"cannot read {path.name} of {path.parent.name}: {error}") from error
