"""The bell rings once for an alarm that is new, and a run that flaps rings for nobody's annoyance."""

from agent.record.values import RunSummary, StandingAlert
from mlrb_tui.control.alarm_bell import AGAIN_S, AlarmBell


class Heard:
    """A bell that counts, and a clock that is moved."""

    def __init__(self, *, on: bool = True) -> None:
        self.now = 1_000.0
        self.rings = 0
        self.bell = AlarmBell(self._ring, on=on, clock=lambda: self.now)

    def _ring(self) -> None:
        self.rings += 1

    def hear(self, *alerts: str, after: float = 5.0, run: str = "a", ended: bool = False) -> int:
        """The run stands so now; how often it has rung."""
        self.now += after
        standing = tuple(StandingAlert(alert=alert) for alert in alerts)
        self.bell.hear([RunSummary(run=run, state="ended" if ended else "running", standing=standing)])
        return self.rings


def test_it_rings_once_for_each_new_alarm() -> None:
    heard = Heard()
    assert [heard.hear(), heard.hear("loop"), heard.hear("loop"), heard.hear("loop", "memory")] == [0, 1, 1, 2]


def test_what_stood_when_the_run_was_first_seen_is_no_news() -> None:
    heard = Heard()
    assert [heard.hear("loop"), heard.hear("loop", "memory")] == [0, 1]


def test_alarm_that_comes_and_goes_rings_once_in_a_while() -> None:
    heard = Heard()
    heard.hear()
    flaps = [heard.hear(*alerts) for alerts in [("loop",), ()] * 20]
    assert flaps[-1] == 1
    heard.hear()
    assert heard.hear("loop", after=AGAIN_S) == 2


def test_many_at_once_ring_as_one() -> None:
    heard = Heard()
    for run in "abc":
        heard.hear(run=run)
    assert [heard.hear("loop", "memory", run=run, after=0.5) for run in "abc"] == [1, 1, 1]


def test_it_is_silent_where_that_is_wished_and_for_runs_that_have_ended() -> None:
    heard = Heard(on=False)
    heard.hear()
    assert heard.hear("loop") == 0
    ending = Heard()
    ending.hear()
    assert ending.hear("loop", ended=True) == 0
