"""Who steers a run, in words: a line of the transcript, a place in the head, a notice to who is concerned."""

import time
from typing import NamedTuple

from agent.record import events as ev
from agent.record.lease import Change, Standing
from agent.record.text import one_line
from agent.record.viewer import Viewer


def said(body: ev.ControlTaken | ev.ControlReleased) -> str:
    """A change of control as a line of the transcript."""
    who, before = _name(body.who), _name(body.from_who if isinstance(body, ev.ControlTaken) else "")
    where = f" · {one_line(body.where, 40)}" if body.where else ""
    match body.how:
        case "free":
            return f"{who} steers{where}"
        case "taken_over":
            return f"{who} took over from {before}{where}"
        case "handed":
            return f"{before} handed over to {who}{where}"
        case "released":
            return f"{who} steers no more{where}"
        case "expired":
            return f"{who} is gone, nobody steers{where}"


def notice(change: Change, viewer: Viewer) -> str:
    """What a viewer is told of a change that takes control from it or gives it; empty for others."""
    who, at = one_line(change.viewer.said, 60), time.strftime("%H:%M", time.localtime(change.at))
    lost = change.before is not None and change.before.viewer == viewer.viewer
    mine = change.viewer.viewer == viewer.viewer
    match change.how:
        case "taken_over" if lost:
            return f"{who} took over at {at}; c asks for it, or takes it"
        case "passed" if lost:
            return f"{who} paused or killed it at {at}, past this app; you still steer"
        case "handed" if mine:
            return f"{_name(change.before.who if change.before is not None else '')} handed over: you steer"
        case "expired" if mine:
            return "this app was silent for too long: you steer no more; c takes control again"
        case _:
            return ""


class Steers(NamedTuple):
    """Who steers, for the head of a screen: in full, and where there is little room."""

    full: str = ""
    short: str = ""


def steers(standing: Standing, viewer: Viewer) -> Steers:
    """Who steers; empty where nobody does."""
    holder = standing.holder
    if holder is None:
        return Steers()
    if holder.viewer == viewer.viewer:
        return Steers("you steer", "you steer")
    name = one_line(holder.who, 16) or "someone"
    other = f"your {one_line(holder.place, 30)}" if holder.is_same_person(viewer) else name
    return Steers(f"watching · {other} steers", f"{name} steers")


def asked(standing: Standing, viewer: Viewer) -> str:
    """Who asks this viewer for control, and the key that gives it; empty where nobody does."""
    holder, asking = standing.holder, standing.asking
    if holder is None or holder.viewer != viewer.viewer or not asking:
        return ""
    return f"{one_line(asking[0].said, 60)} asks for control: C hands it over"


def described(standing: Standing) -> str:
    """Who steers, for `mlrb show`; empty where nobody does."""
    if standing.lease is None or standing.holder is None:
        return ""
    since = time.strftime("%H:%M", time.localtime(standing.lease.since))
    asking = "".join(f"; {viewer.said} asks for it" for viewer in standing.asking)
    return f"{standing.holder.said} since {since}{asking}"


def _name(who: str) -> str:
    return one_line(who, 40) or "someone"
