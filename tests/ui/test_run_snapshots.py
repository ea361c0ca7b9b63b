"""How the run screen looks, at the sizes people have, in both themes."""

from collections.abc import Callable

import pytest

from tests.ui.run_app import app_on

SIZES = {"80x24": (80, 24), "160x48": (160, 48)}


@pytest.mark.parametrize("theme", ["mlrb-dark", "mlrb-light"])
@pytest.mark.parametrize("size", list(SIZES))
def test_the_end_of_a_long_run(snap_compare: Callable[..., bool], size: str, theme: str) -> None:
    assert snap_compare(app_on("baby_lm", theme=theme), terminal_size=SIZES[size])


@pytest.mark.parametrize("theme", ["mlrb-dark", "mlrb-light"])
@pytest.mark.parametrize("size", list(SIZES))
def test_a_moment_in_the_middle_of_training(snap_compare: Callable[..., bool], size: str, theme: str) -> None:
    press = ["slash", *"step  6000/12000", "enter", "_"]
    assert snap_compare(app_on("baby_lm", theme=theme), terminal_size=SIZES[size], press=press)


@pytest.mark.parametrize("theme", ["mlrb-dark", "mlrb-light"])
@pytest.mark.parametrize("size", [*SIZES, "200x60"])
def test_a_training_on_gpus_with_alarms(snap_compare: Callable[..., bool], size: str, theme: str) -> None:
    assert snap_compare(app_on("gpu_trouble", theme=theme), terminal_size=SIZES.get(size, (200, 60)))


def test_alarms_whole(snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(app_on("gpu_trouble"), terminal_size=(100, 30), press=["exclamation_mark", "_"])


def test_a_command_whole(snap_compare: Callable[..., bool]) -> None:
    press = ["slash", *"transformers/modeling", "enter", "_", "up", "enter", "_", "home"]
    assert snap_compare(app_on("baby_lm"), terminal_size=(120, 30), press=press)


def test_a_short_local_run(snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(app_on("short"), terminal_size=(120, 30))


def test_a_very_small_terminal(snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(app_on("baby_lm"), terminal_size=(20, 5))
