"""The whole program under a real pseudo-terminal: how it starts, what it writes, and how it leaves."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from agent.record import index
from agent.record.home import Home
from agent.record.values import StandingAlert
from tests.process.pty_bytes import colours_used, foreign
from tests.process.pty_terminal import MLRB, PtyTerminal, terminal_environment
from tests.ui.fleet_homes import a_run, believable, ended, home_of, waiting_for_words

LOGS = Path(__file__).parents[1] / "logs"
BROKEN = (sys.executable, "-m", "tests.process.pty_broken_app")
READY = "enter open"
LEFT = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?2004l")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with ExitStack() as alive:
        yield home_of(tmp_path / "home", believable(), alive)


def _environment(home: Home, **more: str) -> dict[str, str]:
    return {"MLRB_HOME": str(home.path), **more}


def _left_sane(terminal: PtyTerminal) -> None:
    """The modes that the app set are off, and the line is as it was."""
    for sequence in LEFT:
        on = sequence.replace(b"l", b"h") if sequence.endswith(b"l") else sequence.replace(b"h", b"l")
        assert terminal.raw.rfind(sequence) > terminal.raw.rfind(on), sequence
    assert terminal.attributes == terminal.attributes_before


def test_it_shows_all_runs_and_q_leaves_them_running_and_the_terminal_sane(home: Home) -> None:
    with PtyTerminal(columns=120, lines=40, environment=_environment(home)) as terminal:
        terminal.wait_for("baby_lm")
        terminal.wait_for(READY)
        terminal.press("q")
        assert terminal.wait_for_end() == 0
        _left_sane(terminal)
        assert "6 runs go on without the app" in terminal.text


def test_without_a_terminal_it_says_what_does_without(home: Home) -> None:
    done = subprocess.run(
        MLRB, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=terminal_environment(_environment(home))
    )
    assert done.returncode == 2
    assert "mlrb ls" in done.stderr


def test_a_broken_settings_file_is_told_before_the_screen_is_taken(home: Home) -> None:
    home.settings.write_text("colour = 'red'")
    with PtyTerminal(environment=_environment(home)) as terminal:
        assert terminal.wait_for_end() == 2
        assert "colour" in terminal.text
        assert b"\x1b[?1049h" not in terminal.raw


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_sane(home: Home, number: signal.Signals) -> None:
    with PtyTerminal(columns=100, lines=30, environment=_environment(home)) as terminal:
        terminal.wait_for(READY)
        terminal.signal(number)
        assert terminal.wait_for_end() == 128 + number
        _left_sane(terminal)


@pytest.mark.parametrize(("settings", "rings"), [("", 1), ("bell = false\n", 0)], ids=["by default", "silenced"])
def test_a_new_alarm_rings_the_terminal_once(tmp_path: Path, settings: str, rings: int) -> None:
    run = a_run("aaaa0000", "mlrb/baby_lm", "scripted", now="python train.py")
    alarm = StandingAlert(alert="diverged", message="the loss is no number", at=1.0)
    alarmed = msgspec.structs.replace(run, seq=9, at=run.at + 1, standing=(alarm,), last_alert=alarm.message)
    with ExitStack() as alive:
        home = home_of(tmp_path / "home", [run], alive)
        home.settings.write_text(settings)
        with PtyTerminal(columns=120, lines=40, environment=_environment(home)) as terminal:
            terminal.wait_for("python train.py")
            terminal.settle()
            before = _rings(terminal)
            index.update(home.index, alarmed)
            terminal.wait_for("1 alarm")
            terminal.settle()
            index.update(home.index, msgspec.structs.replace(alarmed, seq=10, cost_usd=9.99))
            terminal.wait_for("9.99")
            terminal.settle()
            assert _rings(terminal) - before == rings


def _rings(terminal: PtyTerminal) -> int:
    """Bells in what was written; the byte also ends some sequences."""
    return terminal.raw.count(b"\x07") - len(re.findall(rb"\x1b\][^\x07\x1b]*\x07", terminal.raw))


def test_a_signal_ends_an_app_that_hangs(home: Home) -> None:
    with PtyTerminal(BROKEN, columns=100, lines=30, environment=_environment(home)) as terminal:
        terminal.wait_for(READY)
        terminal.press("&")
        terminal.settle()
        terminal.signal(signal.SIGTERM)
        assert terminal.wait_for_end() == 128 + signal.SIGTERM
        _left_sane(terminal)


def test_a_lost_terminal_ends_the_app(home: Home) -> None:
    with PtyTerminal(columns=100, lines=30, environment=_environment(home)) as terminal:
        terminal.wait_for(READY)
        terminal.hang_up()
        terminal.process.wait(timeout=20)


def test_a_bug_is_one_clear_line_and_a_file_not_a_page_of_traceback(home: Home) -> None:
    with PtyTerminal(BROKEN, columns=100, lines=30, environment=_environment(home)) as terminal:
        terminal.wait_for(READY)
        terminal.press("%")
        assert terminal.wait_for_end() == 1
        _left_sane(terminal)
        assert "the app broke: ValueError: a bug with [/markup] in it" in terminal.text
        assert "app.log" in terminal.text.replace("\n", "")
        assert "Traceback" not in terminal.text
        assert "ValueError: a bug with [/markup] in it" in (home.path / "app.log").read_text()


WAITS = "7f3a21c4"
F9 = "\x1b[20~"


@pytest.mark.parametrize("ended_by", ["a bug", "SIGTERM"])
def test_ended_inside_the_dialog_on_a_call_it_leaves_the_terminal_sane_and_says_where_the_run_is(
    tmp_path: Path, ended_by: str
) -> None:
    with ExitStack() as alive:
        home = home_of(tmp_path / "home", waiting_for_words(), alive)
        with PtyTerminal((*BROKEN, WAITS), columns=100, lines=30, environment=_environment(home)) as terminal:
            terminal.wait_for("waits for you")
            terminal.press("e")
            terminal.wait_for("Edit bash")
            if ended_by == "a bug":
                terminal.press(F9)
                assert terminal.wait_for_end() == 1
                assert "the app broke: ValueError" in terminal.text
            else:
                terminal.signal(signal.SIGTERM)
                assert terminal.wait_for_end() == 128 + signal.SIGTERM
            _left_sane(terminal)
            assert f"mlrbwatch{WAITS}" in "".join(terminal.text.split())


def test_suspended_it_gives_the_terminal_back_and_comes_back_as_it_was(home: Home) -> None:
    with PtyTerminal(columns=100, lines=30, environment=_environment(home)) as terminal:
        terminal.wait_for(READY)
        terminal.wait_for("44d1")
        terminal.press("\x1a")
        terminal.wait_until(lambda: _state(terminal.process.pid) == "T", what="the app to stop")
        terminal.settle()
        _left_sane(terminal)
        stopped_at = len(terminal.raw)
        terminal.wipe()
        terminal.signal(signal.SIGCONT)
        terminal.wait_for_bytes(b"\x1b[?1049h", after=stopped_at)
        for part in ("spent $55.92", "run   task", "44d1", "enter open"):
            terminal.wait_for(part)
        terminal.press("q")
        assert terminal.wait_for_end() == 0


def test_the_mouse_can_be_given_back_and_taken_again(home: Home) -> None:
    with PtyTerminal(columns=100, lines=30, environment=_environment(home)) as terminal:
        terminal.wait_for(READY)
        terminal.press("\x14")
        terminal.wait_for("the mouse is the terminal")
        for mode in (b"1000", b"1003", b"1006"):
            assert terminal.raw.rfind(b"\x1b[?%sl" % mode) > terminal.raw.rfind(b"\x1b[?%sh" % mode)
        terminal.press("\x14")
        terminal.wait_for("the mouse is the app")
        assert terminal.raw.rfind(b"\x1b[?1000h") > terminal.raw.rfind(b"\x1b[?1000l")


def test_a_setting_leaves_the_mouse_alone_from_the_start(home: Home) -> None:
    home.settings.write_text("mouse = false")
    with PtyTerminal(columns=100, lines=30, environment=_environment(home)) as terminal:
        terminal.wait_for(READY)
        assert b"\x1b[?1000h" not in terminal.raw


def test_gnu_screen_keeps_no_escape_key_back(home: Home) -> None:
    with PtyTerminal(columns=100, lines=30, environment=_environment(home, STY="1.x")) as terminal:
        terminal.wait_for(READY)
        assert b"\x1b[?1000h" not in terminal.raw


def test_a_dumb_terminal_is_refused_in_words(home: Home) -> None:
    with PtyTerminal(environment=_environment(home, TERM="dumb")) as terminal:
        assert terminal.wait_for_end() == 2
        assert "cannot draw" in terminal.text
        assert b"\x1b[" not in terminal.raw


# ── terminals people have ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("environment", "colours"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, {"truecolor"}),
        ({"TERM": "xterm-256color"}, {"256"}),
        ({"TERM": "screen-256color"}, {"256"}),
        ({"TERM": "xterm"}, {"16"}),
        ({"TERM": "screen"}, {"16"}),
        ({"TERM": "linux"}, {"16"}),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, set()),
        ({"TERM": "xterm", "NO_COLOR": "1", "COLORTERM": "truecolor"}, set()),
    ],
    ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else "",
)
def test_no_terminal_gets_more_colours_than_it_has(home: Home, environment: dict[str, str], colours: set[str]) -> None:
    with PtyTerminal(columns=120, lines=40, environment=_environment(home, **environment)) as terminal:
        terminal.wait_for("saved ckpt")
        terminal.press("?")
        terminal.wait_for("steering a run")
        assert colours_used(bytes(terminal.raw)) == colours


def test_inside_a_real_tmux(home: Home, tmp_path: Path) -> None:
    socket = tmp_path / "tmux"
    command = ("tmux", "-S", str(socket), "-f", "/dev/null", "new-session", " ".join(MLRB))
    try:
        with PtyTerminal(command, columns=100, lines=30, environment=_environment(home)) as terminal:
            terminal.wait_for(READY)
            terminal.wait_for("baby_lm")
            terminal.resize(80, 24)
            terminal.wait_for("? help")
            terminal.press("?")
            terminal.wait_for("steering a run")
            terminal.press("\x1b")
            terminal.wait_until(lambda: "steering a run" not in terminal.text, what="help to close")
            terminal.press("q")
            terminal.wait_for_end()
    finally:
        subprocess.run(("tmux", "-S", str(socket), "kill-server"), capture_output=True, check=False)


def test_resized_to_nothing_and_back_it_goes_on(home: Home) -> None:
    with PtyTerminal(columns=200, lines=60, environment=_environment(home)) as terminal:
        terminal.wait_for(READY)
        for columns, lines in ((20, 5), (1, 1), (300, 2), (2, 100), (20, 5), (120, 40)) * 3:
            terminal.resize(columns, lines)
            terminal.press("j")
            terminal.read(0.03)
        terminal.wait_for(READY)
        terminal.wait_for("baby_lm")
        terminal.press("q")
        assert terminal.wait_for_end() == 0


# ── bytes ────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_idle_fleet_costs_next_to_nothing_and_is_never_cleared(tmp_path: Path) -> None:
    with ExitStack() as alive:
        runs = [a_run(f"abcd{number:04}", "a/b", "m", **ended("submitted", 9)) for number in range(60)]
        home = home_of(tmp_path / "home", [*runs, *believable()], alive)
        with PtyTerminal(columns=120, lines=40, environment=_environment(home)) as terminal:
            terminal.wait_for("saved ckpt")
            terminal.settle(1.5)
            painted = len(terminal.raw)
            assert terminal.bytes_in(6.0) < 6 * 1_024
            assert b"\x1b[2J" not in terminal.raw[painted:]


def test_moving_the_cursor_draws_two_lines_not_the_screen(home: Home) -> None:
    with PtyTerminal(columns=120, lines=12, environment=_environment(home)) as terminal:
        terminal.wait_for(READY)
        terminal.settle(1.0)
        before = len(terminal.raw)
        terminal.press("\x1b[B")
        terminal.wait_until(lambda: len(terminal.raw) > before, what="the cursor to move")
        terminal.settle(0.3)
        assert len(terminal.raw) - before < 4_000


HOSTILE = "[/bold]\x1b]0;owned\x07[b + [/#888888] \x1bP1$r\x1b\\ \u202eevil\x00 \x9b31m \x1b[2J 界🧪"


def test_no_escape_sequence_of_a_runs_reaches_the_terminal_from_the_fleet(tmp_path: Path) -> None:
    with ExitStack() as alive:
        runs = [
            a_run("aaaa0000", HOSTILE, HOSTILE, now=HOSTILE, sandbox=HOSTILE, alerts=1, last_alert=HOSTILE),
            a_run("bbbb0000", HOSTILE, HOSTILE, outcome_detail=HOSTILE, leftovers=(HOSTILE,), **ended("failed", 5)),
        ]
        home = home_of(tmp_path / "home", runs, alive)
        with PtyTerminal(columns=180, lines=40, environment=_environment(home)) as terminal:
            terminal.wait_for("[/bold]")
            for keys in ("p", "\x1b[B", "p", "k", "\x1b", "/bold", "\x1b", "o", "?", "\x1b"):
                terminal.press(keys)
                terminal.settle(0.2)
            assert foreign(bytes(terminal.raw)) == []


def test_no_escape_sequence_of_an_agents_reaches_the_terminal_in_replay(home: Home) -> None:
    command = (*MLRB, "replay", str(LOGS / "hostile.jsonl"))
    with PtyTerminal(command, columns=140, lines=40, environment=_environment(home)) as terminal:
        terminal.wait_for("end", timeout_s=40)
        terminal.settle(0.5)
        for keys in ("\x1b[H", "\x1b[6~", "\x1b[6~", "\r", "\x1b", "w", "\x1b[5~", "\r", "w", "\x1b", "?", "\x1b"):
            terminal.press(keys)
            terminal.settle(0.3, timeout_s=3)
        assert terminal.process.poll() is None, terminal.text
        assert foreign(bytes(terminal.raw)) == []


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
