"""`python -m agent.runner RUN_DIR [--resume|--regrade]`: the process that a run is; no terminal owns it."""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from agent.errors import RecordError, RunError
from agent.record.home import Home, RunFolder
from agent.record.inbox import Inbox
from agent.record.lock import hold
from agent.record.log import EventLog
from agent.record.redact import redactor
from agent.record.request import read_request
from agent.runner.life import Life
from agent.runner.notify_settings import NotifySettings, read_notify_settings, secrets
from agent.runner.regrade import regrade
from agent.runner.resuming import Remains, read_remains
from agent.runner.shield import shield
from tasks.errors import MlrbError, UsageError


def run(folder: RunFolder, *, resume: bool) -> None:
    """Live the run's life to its end; raises `MlrbError` where it cannot even be recorded."""
    if not folder.path.is_dir():
        raise RecordError(f"there is no run folder {folder.path.name}")
    with hold(folder.lock):
        request = read_request(folder.request)
        notify, trouble = _notify_settings(folder)
        with EventLog(folder.events, redact=redactor(more=secrets(notify))) as log:
            remains = _remains(folder, log, resume=resume)
            inbox = Inbox(folder.inbox)
            inbox.open_again()
            try:
                asyncio.run(_live(Life(folder, request, log, inbox, remains, notify, trouble)))
            finally:
                inbox.close()


def grade_again(folder: RunFolder) -> None:
    """Grade an ended run's submission again; raises `MlrbError` where that cannot be."""
    with hold(folder.lock), EventLog(folder.events, redact=redactor()) as log:
        asyncio.run(regrade(folder, read_request(folder.request), log))


def _notify_settings(folder: RunFolder) -> tuple[NotifySettings, str]:
    """Who is told of the run; a mistake in the settings, told in the second place, keeps no run from going on."""
    try:
        return read_notify_settings(Home(folder.path.parent.parent).settings), ""
    except UsageError as error:
        return NotifySettings(), error.message


async def _live(life: Life) -> None:
    await life.live()


def _remains(folder: RunFolder, log: EventLog, *, resume: bool) -> Remains | None:
    """What there is to take up; None for a run that starts."""
    if log.summary.state == "ended":
        raise RunError(f"{folder.run} has ended", hint=f"mlrb show {folder.run}")
    if log.summary.seq == 0:
        return None
    if not resume:
        raise RunError(f"{folder.run} was started before", hint=f"mlrb resume {folder.run}")
    return read_remains(folder)


def main(arguments: list[str] | None = None) -> int:
    """The command line; errors are one line and a hint on stderr."""
    parser = argparse.ArgumentParser(prog="python -m agent.runner", description="Run one run to its end.")
    parser.add_argument("run", type=Path, help="the run's folder")
    parser.add_argument("--resume", action="store_true", help="take up a run whose runner is gone")
    parser.add_argument("--regrade", action="store_true", help="grade again what an ended run has submitted")
    given = parser.parse_args(arguments)
    shield()
    # A terminal that hangs up is none of a run's business.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    folder = RunFolder(given.run.absolute())
    try:
        grade_again(folder) if given.regrade else run(folder, resume=given.resume)
    except MlrbError as error:
        print(error.message, *([f"hint: {error.hint}"] if error.hint else []), sep="\n", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
