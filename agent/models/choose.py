"""From a model's name to the model; the vendors' SDKs are imported only here and only when used."""

import os
from collections.abc import Mapping
from pathlib import Path

from agent.errors import ModelUnavailable
from agent.models.base import Model
from agent.models.scripted import Part, ScriptedModel
from tasks.errors import UsageError

_HINT = "--model anthropic:NAME, openai:NAME, scripted or scripted:FILE"


def open_model(
    name: str,
    *,
    base_url: str = "",
    script: Path | None = None,
    pace_s: float = 0.0,
    part: Part | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Model:
    """The model of that name; importing a vendor's SDK takes 1 to 3 s.

    `script` is what plain `scripted` reads: the task's `baseline.jsonl`; `part` whose lines of it are spoken, where
    several speak. Raises `UsageError` for a name or an
    address that cannot be meant, `ModelUnavailable` where a key or a script is missing.
    """
    provider, _, rest = name.partition(":")
    if base_url and not base_url.startswith(("http://", "https://")):
        raise UsageError(f"not the address of a server: {base_url!r}", hint="--base-url http://HOST:PORT/v1")
    match provider:
        case "scripted":
            return _scripted(name, Path(rest) if rest else script, pace_s, part)
        case "anthropic" if rest:
            from agent.models.anthropic import AnthropicModel

            return AnthropicModel(rest, base_url or None, environment=environment)
        case "openai" if rest:
            from agent.models.openai import OpenAIModel

            return OpenAIModel(rest, base_url or None, environment=environment)
        case _:
            raise UsageError(f"no such model: {name!r}", hint=_HINT)


def _scripted(name: str, path: Path | None, pace_s: float, part: Part | None) -> ScriptedModel:
    if path is None:
        raise ModelUnavailable("there is no script for this task", hint="--model scripted:FILE names one")
    # A script's folder is this machine's affair and has no place in the record.
    return ScriptedModel(path, pace_s, name=name if name == "scripted" else f"scripted:{path.name}", part=part)
