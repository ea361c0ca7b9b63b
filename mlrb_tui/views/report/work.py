"""The sections of a report about the work itself: GPUs, checkpoints, the plan and its workers."""

from mlrb_tui.views import words
from mlrb_tui.views.report.parts import Fact, Section, Table, moment
from mlrb_tui.views.report.values import Report


def gpus(report: Report) -> Section:
    """GPU-hours, in all and of each command; those that held the most come first."""
    found = report.gpu
    if not found.hours.reserved:
        return Section("GPU-hours", (Fact("GPU-hours", "none: it held no GPU"),))
    hours, price = found.hours, found.usd_per_hour
    cost = "not known: no price is configured" if hours.cost_usd is None else f"${hours.cost_usd:,.2f}"
    each = f" at ${price:g} for each GPU and hour" if price is not None and hours.cost_usd is not None else ""
    most = sorted(found.commands, key=lambda command: -command.gpu_hours.reserved)
    rows = tuple(
        (str(one.step), one.command, words.duration(one.seconds), f"{one.gpu_hours.reserved:.4g}",
         f"{one.gpu_hours.busy:.4g}", f"{one.gpu_hours.idle:.4g}",
         "–" if one.gpu_hours.cost_usd is None else f"${one.gpu_hours.cost_usd:,.2f}")
        for one in most
    )  # fmt: skip
    return Section("GPU-hours", (
        Fact("GPUs", ", ".join(dict.fromkeys(found.names))),
        Fact("Reserved", f"{hours.reserved:.4g} h"),
        Fact("Busy", f"{hours.busy:.4g} h ({100 * hours.busy / hours.reserved:.0f} %)"),
        Fact("Idle", f"{hours.idle:.4g} h"),
        Fact("GPU cost", f"{cost}{each}"),
    ), (Table(("Step", "Command", "Took", "Reserved h", "Busy h", "Idle h", "Cost"), rows),))  # fmt: skip


def checkpoints(report: Report) -> Section:
    """Weights files as they were seen last."""
    rows = tuple(
        (each.path, words.size(each.size_bytes), "–" if each.training_step is None else f"{each.training_step:,}",
         moment(each.at))
        for each in report.checkpoints
    )  # fmt: skip
    return Section("Checkpoints", (), (Table(("File", "Size", "Training step", "Seen"), rows),))


def plan(report: Report) -> Section:
    """The plan and who carried it out, where there is one."""
    found = report.plan
    changed = f", changed {words.count(found.changes, 'time')}" if found.changes else ""
    count = len(found.steps) or len(found.items)
    done = f"{sum(step.state == 'done' for step in found.steps)} of " if found.steps else ""
    steps = tuple(
        (step.name, step.state, str(step.worker) if step.worker else "–", ", ".join(step.after) or "–", step.about)
        for step in found.steps
    )
    items = tuple((str(number), item) for number, item in enumerate(found.items, 1))
    team = (found.supervisor, *found.workers)
    rows = tuple(
        (str(each.worker or "supervisor"), each.step or "–", each.model or "–",
         each.outcome or ("–" if each.worker == 0 else "at work"), str(each.steps), f"{each.tokens:,}",
         f"${each.cost_usd:,.2f}", str(each.errors), each.said or "–")
        for each in team
        if each is not None
    )  # fmt: skip
    return Section("Plan and workers", (
        Fact("Plan", f"{done}{words.count(count, 'step')}{' done' if done else ''}{changed}" if count else ""),
        Fact("Why", found.why),
        Fact("Workers", f"{found.workers_started} started" if found.workers_started else ""),
    ), (
        Table(("Step", "State", "Worker", "After", "What"), steps),
        Table(("", "Step of the plan"), items),
        Table(("Worker", "Step", "Model", "Outcome", "Turns", "Tokens", "Cost", "Errors", "Said last"), rows),
    ))  # fmt: skip
