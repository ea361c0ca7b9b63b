"""The user's settings: `$MLRB_HOME/config.toml`, strict about what it does not know."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from agent.record.alarm_settings import AlarmSettings
from agent.record.home import Home
from agent.record.research_settings import ResearchSettings
from agent.record.values import ApproveRules, OnLimit
from agent.runner.notify_settings import NotifySettings
from tasks.errors import UsageError

ThemeName = Literal[
    "auto", "mlrb-dark", "mlrb-light", "textual-dark", "textual-light", "nord", "gruvbox", "catppuccin-mocha",
    "catppuccin-latte", "catppuccin-frappe", "catppuccin-macchiato", "dracula", "tokyo-night", "monokai", "flexoki",
    "solarized-light", "solarized-dark", "rose-pine", "rose-pine-moon", "rose-pine-dawn", "atom-one-dark",
    "atom-one-light", "ansi-dark", "ansi-light",
]  # fmt: skip
"""The app's themes as data: to read the settings must not cost Textual."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person likes; every setting has a default, so the file need not be there."""

    model: Annotated[
        str, Meta(description="the model of a new run: anthropic:NAME, openai:NAME or scripted[:FILE]")
    ] = ""
    supervisor_model: Annotated[
        str, Meta(description="the supervisor's model in runs led by mlrb; empty is the run's own")
    ] = ""
    base_url: Annotated[str, Meta(description="the server for openai: models; empty is the vendor's own")] = ""
    scaffold: Annotated[str, Meta(description="how a new run's agent is led")] = "react"
    sandbox: Annotated[
        str,
        Meta(description="auto (docker where a daemon answers), local, docker or docker@HOST", pattern=r"^\S+$"),
    ] = "auto"
    on_limit: Annotated[OnLimit, Meta(description="whether a limit that is reached ends a run or pauses it")] = "end"
    approve: Annotated[
        ApproveRules,
        Meta(description="approve mode: patterns of calls that are let through, and of calls that always ask"),
    ] = ApproveRules()
    research: Annotated[
        ResearchSettings, Meta(description="where agents' research tools ask, where a task allows network")
    ] = ResearchSettings()
    alarms: Annotated[AlarmSettings, Meta(description="when a run raises which alarm")] = AlarmSettings()
    gpu_usd_per_hour: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="what one GPU costs, for the ledger of GPU-hours")
    ] = None
    theme: Annotated[ThemeName, Meta(description="the app's colours; auto is what the terminal shows well")] = "auto"
    bell: Annotated[bool, Meta(description="whether a new alarm rings the terminal's bell, once")] = True
    mouse: Annotated[bool, Meta(description="whether the app takes the mouse; ctrl+t toggles it")] = True
    glyphs: Annotated[
        Literal["unicode", "ascii"], Meta(description="ascii for terminals and fonts without symbols")
    ] = "unicode"
    notify: Annotated[NotifySettings, Meta(description="whom to tell what, beyond this terminal")] = NotifySettings()


def read_settings(home: Home) -> Settings:
    """The settings in the file, or the defaults; raises `UsageError` that names what is wrong in it."""
    path = home.settings
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    return parse_settings(raw, path)


def parse_settings(raw: bytes, path: Path) -> Settings:
    """Settings out of TOML; `path` is named where they can't be read."""
    import tomllib

    try:
        settings = msgspec.convert(tomllib.loads(raw.decode()), Settings)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}", hint="correct it, or remove it for the defaults") from error
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {error}", hint=_hint(str(error))) from error
    _check_patterns(settings.approve, path)
    return settings


def _check_patterns(rules: ApproveRules, path: Path) -> None:
    if rules == ApproveRules():
        return
    from agent.record.approve_rules import problem

    for pattern in (*rules.let_through, *rules.always_ask):
        if trouble := problem(pattern):
            raise UsageError(
                f"{path}: [approve] {trouble}", hint="write 'ls *', 'python train.py *' or 'write:notes/*'"
            )


def may_be() -> dict[str, str]:
    """What each setting is for and may be, by its name; those of a table as `table.name`."""
    kinds = msgspec.json.schema(Settings)["$defs"]
    found: dict[str, str] = {}
    for name, about in kinds["Settings"]["properties"].items():
        table = kinds[about["$ref"].rpartition("/")[2]]["properties"] if "$ref" in about else None
        if table is None:
            found[name] = _said(about)
            continue
        for field, inner in table.items():
            found[f"{name}.{field}"] = _said(inner)
    return found


def _said(about: Mapping[str, Any]) -> str:
    inner = about.get("items", {})
    choices = about.get("enum") or (inner.get("enum") if isinstance(inner, dict) else None)
    parts = (about.get("description", ""), ", ".join(choices) if choices else _kind(about))
    return ": ".join(part for part in parts if part)


def _kind(about: Mapping[str, Any]) -> str:
    """What kind of value may stand there, where that is not plain from what it is for."""
    for each in (about, *about.get("anyOf", ())):
        match each.get("type"):
            case "boolean":
                return "true or false"
            case "number" | "integer" as kind:
                whole = "a whole number" if kind == "integer" else "a number"
                limits = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most"}
                said = " and ".join(f"{word} {each[name]:g}" for name, word in limits.items() if name in each)
                return f"{whole} {said}".strip()
    return ""


def _hint(error: str) -> str:
    """What may stand where msgspec found a mistake."""
    import difflib
    import re

    known = may_be()
    unknown = re.search(r"unknown field `([^`]*)`", error)
    place = re.search(r"`\$\.([\w.]+)", error)
    table = f"{place[1]}." if place else ""
    if unknown:
        near = difflib.get_close_matches(table + unknown[1], known, n=1)
        names = [name for name in known if name.startswith(table)]
        return f"did you mean {near[0]}?" if near else f"settings are {', '.join(names)}"
    fitting = [f"{name}: {said}" for name, said in known.items() if place and f"{name}.".startswith(table)]
    return "; ".join(fitting) or "mlrb config shows what settings may be"


def remember(home: Home, name: str, value: str) -> None:
    """Set one setting in the file; all else in it, comments too, stays as it is."""
    import re

    path = home.settings
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    line = f"{name} = {msgspec.json.encode(value).decode()}"
    setting = re.compile(rf"^{re.escape(name)}\s*=.*$", re.MULTILINE)
    new = setting.sub(lambda _: line, old) if setting.search(old) else f"{line}\n{old}"
    parse_settings(new.encode(), path)
    path.write_text(new, encoding="utf-8")
    path.chmod(0o600)


def schema() -> dict[str, object]:
    """The settings' JSON schema, for `mlrb config`."""
    whole = msgspec.json.schema(Settings)
    found: dict[str, object] = whole["$defs"]["Settings"]
    return found
