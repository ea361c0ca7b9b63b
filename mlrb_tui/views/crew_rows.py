"""Plan and workers as rows: a column a worker where there is room, else one below the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.record.crew import Crew, StepNow, WorkerNow
from agent.record.text import one_line
from mlrb_tui.views import words
from mlrb_tui.views.block_rows import Options, rows_of
from mlrb_tui.views.crew import CrewView
from mlrb_tui.views.rows import EMPTY, Row, Span, apart, cells, cut, cut_row, row, width_of

LEAST_COLUMN = 50
_LEAST_ROWS = 5
"""Of a worker that is shown below another."""
_SEPARATOR = " │ "
_ROOMY = 56
_STATES = {
    "waiting": ("·", "dim"), "working": ("▸", "thought"), "done": ("✔", "ok"), "failed": ("×", "bad"),
    "stopped": ("■", "warn"),
}  # fmt: skip


@dataclass(frozen=True)
class Page:
    """What is shown, and of whom."""

    rows: list[Row]
    shown: tuple[int, ...]
    """The workers, in their order on the screen; 0 is the supervisor."""


def page(view: CrewView, chosen: int, width: int, height: int, now: float) -> Page:
    """Plan and workers in that room; the chosen one is always among them."""
    members = view.members
    columns = min(len(members), max(1, (width + len(_SEPARATOR)) // (LEAST_COLUMN + len(_SEPARATOR))))
    if columns > 1:
        return _side_by_side(view, _around(members, chosen, columns), chosen, width, height, now)
    # One below the other few fit: those that work come first.
    members.sort(key=lambda member: not (member.at_work and member.worker))
    plan = plan_rows(view.crew, width, most=max(2, height // 3))
    room = height - len(plan) - 1
    count = max(1, min(len(members), room // _LEAST_ROWS))
    some = _around(members, chosen, count)
    rows = [*plan, EMPTY]
    for index, member in enumerate(some):
        share = room // count + (index < room % count)
        rows += _column(view, member, chosen, width, share, now)
    return Page(rows[:height], tuple(member.worker for member in some))


def _around(members: Sequence[WorkerNow], chosen: int, count: int) -> list[WorkerNow]:
    """As many as there is room for, in their order, the chosen one among them."""
    at = next((index for index, member in enumerate(members) if member.worker == chosen), 0)
    first = max(0, min(at - count + 1, len(members) - count)) if at >= count else 0
    return list(members[first : first + count])


def _side_by_side(
    view: CrewView, members: Sequence[WorkerNow], chosen: int, width: int, height: int, now: float
) -> Page:
    count = len(members)
    room = width - len(_SEPARATOR) * (count - 1)
    widths = [room // count + (index < room % count) for index in range(count)]
    plan = plan_rows(view.crew, width, most=max(3, height // 4))
    left = height - len(plan) - 1
    columns = [
        _column(view, member, chosen, wide, left, now) for member, wide in zip(members, widths, strict=True)
    ]  # fmt: skip
    rows = [_joined([column[line] for column in columns], widths) for line in range(left)]
    return Page([*plan, EMPTY, *rows], tuple(member.worker for member in members))


def _joined(lines: Sequence[Row], widths: Sequence[int]) -> Row:
    parts: list[Span] = []
    for index, (line, wide) in enumerate(zip(lines, widths, strict=True)):
        if index:
            parts.append(Span(_SEPARATOR, "frame"))
        parts += apart(cut_row(line, wide), EMPTY, wide)
    return tuple(parts)


def _column(view: CrewView, member: WorkerNow, chosen: int, width: int, height: int, now: float) -> list[Row]:
    """One worker in exactly so many rows: who, how it stands, and the end of what it did."""
    head = [_who(member, width, chosen=member.worker == chosen), _stands(member, width, now)]
    options = Options(width=width)
    lines: list[Row] = []
    for block in reversed(view.blocks(member.worker)):
        lines = [*rows_of(block, options, now), *lines]
        if len(lines) >= height - len(head):
            break
    kept = lines[max(0, len(lines) - (height - len(head))) :]
    rows = [*head, *kept][:height]
    return [*rows, *([EMPTY] * (height - len(rows)))]


def name_of(worker: int) -> str:
    """How a worker is called."""
    return f"worker {worker}" if worker else "supervisor"


def _who(member: WorkerNow, width: int, *, chosen: bool) -> Row:
    mark = Span("▌", "cursor") if chosen else Span(" ")
    model = one_line(member.model, 30)
    left = row(mark, Span(name_of(member.worker), "strong"), Span(f"  {one_line(member.step, 40)}", "thought"))
    right = row(Span(model, "dim"))
    return apart(left, right if width_of(left) + cells(model) + 2 <= width else EMPTY, width)


def _stands(member: WorkerNow, width: int, now: float) -> Row:
    """What it does and for how long, and what it has used."""
    used = f"{words.count(member.steps, 'step')}  {words.number(member.tokens)} tok"
    if member.cost_usd and width >= _ROOMY:
        used += f"  ${member.cost_usd:.2f}"
    said, tone = _doing(member, now)
    room = max(8, width - cells(used) - 2)
    return apart(row(" ", Span(cut(said, room - 1), tone)), row(Span(used, "dim")), width)


def _doing(member: WorkerNow, now: float) -> tuple[str, str]:
    if member.outcome is not None:
        lasted = (member.ended_at or now) - member.started_at
        return f"{member.outcome} after {words.duration(lasted)}", "ok" if member.outcome == "returned" else "warn"
    since = f" {words.duration(now - member.since)}" if member.since else ""
    match member.doing:
        case "tool":
            return f"runs {member.now}{since}", ""
        case "thinking":
            return f"thinks{since}", ""
        case "retrying":
            return f"waits for its model{since}", "warn"
        case "asking":
            return f"waits for a word{since}: {member.now}", "warn"
        case _:
            return ("waits for the workers" if member.worker == 0 else "between two acts"), "dim"


def plan_rows(crew: Crew, width: int, most: int) -> list[Row]:
    """The plan, a line a step; what does not fit is counted."""
    changed = f", changed {words.count(crew.plans - 1, 'time')}" if crew.plans > 1 else ""
    why = f"  {crew.why}" if crew.plans > 1 and crew.why else ""
    done = f"{crew.done} of {words.count(len(crew.steps), 'step')} done{changed}"
    head = row(" ", Span("plan", "strong"), Span(f"  {done}", "dim"), Span(why, "dim"))
    if not crew.steps:
        return [row(" ", Span("plan", "strong"), Span("  none yet", "dim"))]
    steps = list(crew.steps)
    if len(steps) > most - 1:
        # What is done is told last where there is no room for all.
        first = next((index for index, step in enumerate(steps) if step.state != "done"), 0)
        first = max(0, min(first, len(steps) - (most - 2)))
        kept = steps[first : first + max(1, most - 2)]
        hidden = row(Span(f"   … {len(steps) - len(kept)} more", "dim"))
        return [cut_row(head, width), *(_step(step, width) for step in kept), hidden]
    return [cut_row(head, width), *(_step(step, width) for step in steps)]


def _step(step: StepNow, width: int) -> Row:
    glyph, tone = _STATES[step.state]
    who = f" w{step.worker}" if step.worker and step.state != "waiting" else ""
    after = f" after {', '.join(step.after)}" if step.after and step.state == "waiting" else ""
    left = row("  ", Span(f"{glyph} ", tone), Span(one_line(step.name, 40)), Span(who, "thought"), Span(after, "dim"))
    return cut_row((*left, Span(f"  {step.about}", "dim")), width)
