"""What stands in the launch form, and the requests that come of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from agent.record.home import Home
from agent.record.request import RunRequest
from agent.record.values import Limits, OnLimit
from agent.sandbox.machines import on_another
from mlrb_tui.control.amounts import NAMES
from mlrb_tui.control.launch import launch
from mlrb_tui.control.plan import plan_request
from tasks.errors import UsageError

MOST_AT_ONCE = 64


@dataclass(frozen=True)
class LaunchForm:
    """The form's fields as they are typed."""

    task: str
    scale: str = "smoke"
    scaffold: str = "react"
    model: str = ""
    base_url: str = ""
    sandbox: str = "auto"
    gpus: str = ""
    time: str = ""
    steps: str = ""
    cost: str = ""
    tokens: str = ""
    approve: str = "off"
    on_limit: OnLimit = "end"
    seed: str = "0"
    repeat: str = "1"


def requests(home: Home, form: LaunchForm, *, reach: bool = False) -> list[RunRequest]:
    """A request for each run; raises a `MlrbError` that says which field will not do.

    With `reach` another machine that is named there is asked as well, which may last.
    """
    if not form.model.strip():
        raise UsageError("no model is named", hint="scripted, anthropic:NAME or openai:NAME")
    first_seed = _whole(form.seed, "seed", least=0)
    repeat = _whole(form.repeat, "repeat", least=1, most=MOST_AT_ONCE)
    request = plan_request(
        home,
        form.task,
        scale=form.scale,
        scaffold=form.scaffold,
        model=form.model.strip(),
        base_url=form.base_url.strip(),
        sandbox=form.sandbox,
        gpus=form.gpus.strip(),
        seed=first_seed,
        limit_assignments=[f"{name}={getattr(form, name).strip() or 'none'}" for name in NAMES],
        approve=form.approve == "on",
        on_limit=form.on_limit,
        reach=reach,
    )
    return [_with_seed(request, first_seed + number) for number in range(repeat)]


def launch_all(home: Home, form: LaunchForm, tell: Callable[[str], None]) -> list[str]:
    """Launch every run of the form, telling how far it is; returns their ids."""
    if on_another(form.sandbox):
        tell(f"reaching {form.sandbox.partition('@')[2]} …")
    wanted = requests(home, form, reach=True)
    launched = []
    for number, request in enumerate(wanted, 1):
        tell(f"launching {number} of {len(wanted)} …" if len(wanted) > 1 else "launching …")
        launched.append(launch(home, request).run)
    return [str(run) for run in launched]


def limit_fields(form: LaunchForm, limits: Limits) -> LaunchForm:
    """The form with a task's limits in its fields, written so that they can be read again."""
    return replace(
        form,
        time="" if limits.time_s is None else _time(limits.time_s),
        steps="" if limits.steps is None else str(limits.steps),
        cost="" if limits.cost_usd is None else f"{limits.cost_usd:g}",
        tokens="" if limits.tokens is None else str(limits.tokens),
    )


def _with_seed(request: RunRequest, seed: int) -> RunRequest:
    import msgspec

    return msgspec.structs.replace(request, seed=seed)


def _time(seconds: float) -> str:
    hours, rest = divmod(round(seconds), 3600)
    minutes, second = divmod(rest, 60)
    parts = ((hours, "h"), (minutes, "m"), (second, "s"))
    return "".join(f"{amount}{unit}" for amount, unit in parts if amount) or "0s"


def _whole(text: str, name: str, *, least: int, most: int = 2**31) -> int:
    if not text.strip().isascii() or not text.strip().isdigit() or not least <= int(text) <= most:
        raise UsageError(f"{name} {text!r} is no whole number from {least} to {most}")
    return int(text)
