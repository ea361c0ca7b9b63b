"""Output is cut anywhere, comes in bursts and has no end: figures are read whole, evenly and once."""

import pytest

from agent.record.values import Progress
from agent.telemetry.output_lines import LINES_A_SECOND, MOST_LINES, Allowance, OutputLines, telling
from agent.telemetry.training import Training

LOG = (
    "step 10/90 loss 3.41\r\nVal: acc=0.5 – naïve\n 45%|███▌ | 45/90 [00:10<00:12, 4.00it/s, loss=2.5]\r\nloss 1.5e-3\n"
)


def read(pieces: list[str]) -> list[Progress]:
    """What comes out of them."""
    lines = OutputLines()
    found = [progress for piece in pieces for progress in lines.read(piece, 0.0)]
    return found + lines.finish()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20, 1_000])
def test_line_that_is_cut_is_read_whole_and_once(size: int) -> None:
    found = read([LOG[at : at + size] for at in range(0, len(LOG), size)])
    assert [progress.values for progress in found] == [
        {"loss": 3.41}, {"eval_accuracy": 0.5}, {"loss": 2.5}, {"loss": 0.0015},
    ]  # fmt: skip


def test_bar_is_read_as_soon_as_it_is_drawn_and_not_again_with_the_next() -> None:
    lines = OutputLines()
    assert [bar.step for bar in lines.read("\r 10%|# | 1/10 [00:60<09:00, 60.00s/it]", 0.0)] == [1]
    assert [bar.step for bar in lines.read("\r 20%|## | 2/10 [02:00<08:00, 60.00s/it]", 0.0)] == [2]
    assert lines.finish() == []


def test_line_left_open_at_the_end_is_read() -> None:
    assert [progress.step for progress in read(["step 1/3 loss 2", "\nstep 2/3 loss 1"])] == [1, 2]


def test_output_that_never_ends_its_line_is_not_kept() -> None:
    lines = OutputLines()
    for _ in range(100):
        lines.read("x" * 90_000, 0.0)
    assert len(lines._rest) <= 2_000


def test_burst_is_read_whole_and_a_flood_is_not() -> None:
    lines = OutputLines()
    burst = "".join(f"step {step} loss 2\n" for step in range(MOST_LINES))
    assert len(lines.read(burst, 0.0)) == MOST_LINES
    flood = lines.read(burst, 1.0)
    assert len(flood) == LINES_A_SECOND
    assert flood[-1].step == MOST_LINES - 1


def test_long_lines_count_as_several() -> None:
    lines = OutputLines()
    long = "".join(f"{'x' * 1_950} step {step} loss 2\n" for step in range(MOST_LINES))
    assert 50 <= len(lines.read(long, 0.0)) <= MOST_LINES // 19


def test_one_is_always_granted() -> None:
    allowance = Allowance(1.0, 2)
    assert [allowance.some(5, 0.0), allowance.some(5, 0.0), allowance.some(5, 0.5)] == [2, 1, 1]


def test_burst_is_told_evenly_with_what_is_rare_in_it() -> None:
    lines = [Progress(values={"loss": 9.0 - step / 100}, step=step) for step in range(400)]
    lines[150] = Progress(values={"eval_loss": 5.0}, step=150)
    lines[7] = Progress(diverged=("loss",), step=7)
    told = telling(lines, 40)
    assert len(told) <= 40
    assert {7, 150, 399} <= {progress.step for progress in told}
    early = [progress for progress in told if (progress.step or 0) < 200]
    assert 15 <= len(early) <= 25


def ends(lines: list[tuple[float, Progress]]) -> list[float | None]:
    """When the command is done, by each of the lines."""
    training = Training()
    return [training.see(progress, at).command_eta_s for at, progress in lines]


def test_count_that_starts_anew_is_measured_anew() -> None:
    first = [(float(step) * 10, Progress(step=step, total=100)) for step in range(101)]
    second = [(1_000.0 + step, Progress(step=step, total=100)) for step in range(51)]
    assert ends([*first, *second])[-1] == pytest.approx(50.0, rel=0.05)


def test_slow_beginning_is_soon_no_matter() -> None:
    slow = [(0.0, Progress(step=0, total=1_000)), (600.0, Progress(step=1, total=1_000))]
    fast = [(600.0 + step, Progress(step=step, total=1_000)) for step in range(2, 700)]
    assert ends([*slow, *fast])[-1] == pytest.approx(301.0, rel=0.05)


def test_bar_that_misjudges_a_frozen_hour_is_not_believed() -> None:
    steady = [(float(step), Progress(step=step, total=200, eta_s=200.0 - step)) for step in range(100)]
    after = (100.0, Progress(step=100, total=200, eta_s=100 * 1_080.0))
    assert ends([*steady, after])[-1] == pytest.approx(100.0, rel=0.05)


def test_ranks_that_are_a_step_apart_are_one_training() -> None:
    lines = []
    for step in range(2, 60):
        lines += [(step * 2.0, Progress(step=step, total=100)), (step * 2.0, Progress(step=step - 1, total=100))]
    assert ends(lines)[-1] == pytest.approx(82.0, rel=0.1)


def test_epochs_that_were_given_up_do_not_hold_the_end_up() -> None:
    stopped = [
        (epoch * 100.0, Progress(step=epoch, total=100, epoch=epoch, epochs=100, values={"loss": 1.0}))
        for epoch in range(1, 6)
    ]
    second = [(500.0 + step * 10.0, Progress(step=step, total=300)) for step in range(1, 151)]
    assert ends([*stopped, *second])[-1] == pytest.approx(1_500.0, rel=0.05)


def test_bar_of_an_evaluation_is_not_the_trainings_position() -> None:
    training = Training()
    for step in range(1, 97):
        training.see(Progress(step=step, total=96, values={"loss": 1.0}, rate=9.0, rate_unit="it/s"), float(step))
    training.see(Progress(step=50, total=400, rate=500.0, rate_unit="it/s"), 97.0)
    training.see(Progress(step=60, total=400, label="evaluating", rate=500.0, rate_unit="it/s"), 98.0)
    whole = training.see(Progress(values={"eval_loss": 2.0}), 99.0)
    assert (whole.step, whole.total, whole.rate) == (96, 96, 9.0)


def test_speed_of_the_preparation_is_not_the_trainings() -> None:
    training = Training()
    training.see(Progress(step=9_000, total=9_000, label="map", rate=4_000.0, rate_unit="examples/s"), 1.0)
    whole = training.see(Progress(step=1, total=50, values={"loss": 3.0}), 2.0)
    assert whole.rate is None


def test_epochs_that_count_from_nought() -> None:
    lines = [
        (epoch * 100.0 + step, Progress(step=step, total=100, epoch=epoch, epochs=4, label="epoch"))
        for epoch in range(3)
        for step in range(1, 101)
    ]
    assert ends(lines)[-1] == pytest.approx(100.0, rel=0.05)
