"""Who is told of what, beyond the terminal: the `[notify]` table of `config.toml`."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from agent.record.alarm_settings import Alarm
from tasks.errors import UsageError

News = Literal["ended", "needs_approval", "limit", "alert", "lost"]
"""What may be told: a run has ended, waits for a person, stopped at a limit, raised an alert, lost its runner."""


class NotifySettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Notifications; none are sent until there is a service to send them to."""

    urls: Annotated[
        tuple[str, ...], Meta(description="services as Apprise writes them: mailto://…, slack://…, json://…")
    ] = ()
    on: Annotated[tuple[News, ...], Meta(description="what is told of")] = (
        "ended",
        "needs_approval",
        "limit",
        "alert",
        "lost",
    )
    quiet: Annotated[tuple[Alarm, ...], Meta(description="alarms that are raised, and nobody is told of them")] = ()
    alarm_again_s: Annotated[
        float, Meta(ge=0, description="one alarm of a run is told again no sooner than so long after the last time")
    ] = 1800.0


class _File(Struct, frozen=True):
    """The one table of the settings' file that a runner needs."""

    notify: NotifySettings = NotifySettings()


def read_notify_settings(path: Path) -> NotifySettings:
    """The table in that file, or the defaults; raises `UsageError` that names what is wrong in it, and no address."""
    import tomllib

    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File).notify
    except FileNotFoundError:
        return NotifySettings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path.name} cannot be read: {type(error).__name__}") from error
    except msgspec.ValidationError as error:
        raise UsageError(f"{path.name}: {error}") from error


def named(url: str) -> str:
    """The service without what is secret in its address."""
    scheme, found, _ = url.partition("://")
    return scheme[:20] if found and scheme.isalnum() else "unknown service"


def secrets(settings: NotifySettings) -> tuple[str, ...]:
    """What must not be in any record: the addresses, with and without their scheme."""
    return tuple(part for url in settings.urls for part in (url, url.partition("://")[2]) if part)
