"""Frozen means frozen: no processor time, no clock, no time-out; and what was frozen goes on where it stood."""

from tests.process.frozen_runs import check_frozen, check_goes_on, check_whole, spinning
from tests.process.runner_runs import Runs


def test_busy_loop_uses_no_cpu_while_it_is_frozen_and_its_output_goes_on_without_a_gap(runs: Runs) -> None:
    run, pid = spinning(runs, "local")
    check_frozen(run, pid)
    check_goes_on(run, pid)
    (run.folder.work / "go").write_text("")
    check_whole(run)
