"""`mlrb.db`: an index over all runs. Derived: `reindex` makes it anew from the run folders.

Made with sqlite-utils, so that Datasette and the like read it as it is. The two paths that have to be quick
(a runner's update, `mlrb ls`) speak plain SQL, since importing sqlite-utils costs more than they do.
"""

import contextlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import msgspec

from agent.errors import RecordError
from agent.record.home import Home, RunFolder
from agent.record.lock import is_held
from agent.record.sqlite import open_readonly
from agent.record.values import RunSummary

_COLUMNS = ("run", "task", "scale", "scaffold", "model", "state", "outcome", "step", "created_at", "at", "cost_usd",
            "score", "valid", "summary")  # fmt: skip


def update(path: Path, summary: RunSummary) -> None:
    """Put a run's row in, or anew; gives up quietly where the index is busy or broken, since it is derived."""
    with contextlib.suppress(sqlite3.Error):
        connection = sqlite3.connect(path, isolation_level=None, timeout=2.0)
        try:
            _upsert(connection, [summary])
        except sqlite3.OperationalError as error:
            # Busy is no reason to make tables.
            if "no such table" not in str(error):
                raise
            connection.execute("ROLLBACK")
            _create_apart(path)
            _upsert(connection, [summary])
        finally:
            connection.close()


def _create_apart(path: Path) -> None:
    """Make the tables in a process of its own: a runner must not carry sqlite-utils, which weighs 80 MB."""
    import subprocess
    import sys

    subprocess.run([sys.executable, "-m", "agent.record.index", str(path)], check=False)


def create(path: Path) -> None:
    """Make the tables, where they are not there yet."""
    import sqlite_utils

    database = sqlite_utils.Database(path)
    database.enable_wal()
    database["runs"].create(  # type: ignore[union-attr]
        {
            "run": str, "task": str, "scale": str, "scaffold": str, "model": str, "state": str, "outcome": str,
            "step": int, "created_at": float, "at": float, "cost_usd": float, "score": float, "valid": int,
            "summary": str,
        },
        pk="run",
        if_not_exists=True,
    )  # fmt: skip
    database["runs"].create_index(["created_at"], if_not_exists=True)  # type: ignore[union-attr]
    database.close()
    path.chmod(0o600)


def summaries(home: Home) -> list[RunSummary]:
    """Every run, oldest first. Runs that the index lacks are read from their folders; dead ones are `lost`."""
    known = _indexed(home.index)
    runs = home.run_ids()
    found = [known.get(run) or of_folder(RunFolder(home.runs / run)) for run in runs]
    alive = [refreshed(RunFolder(home.runs / summary.run), summary) for summary in found]
    return sorted(alive, key=lambda summary: (summary.created_at, summary.run))


def of_folder(folder: RunFolder) -> RunSummary:
    """One run's summary from its own folder; a run without events yet is `queued`."""
    # The log knows every kind of event; a listing that the index answers must not pay for that.
    from agent.record.log import EventReader
    from agent.record.request import read_request

    try:
        with EventReader(folder.events) as reader:
            summary = reader.summary()
        if summary.run:
            return summary
    except RecordError:
        pass
    try:
        request = read_request(folder.request)
    except RecordError:
        return RunSummary(run=folder.run, state="ended", outcome="lost", outcome_detail="the record cannot be read")
    return RunSummary(
        run=folder.run, task=request.task, scale=request.scale, scaffold=request.scaffold, model=request.model,
        sandbox=request.sandbox, seed=request.seed, limits=request.limits, who=request.who,
        created_at=folder.request.stat().st_mtime,
    )  # fmt: skip


def reindex(home: Home) -> int:
    """Make the index anew from the run folders; returns how many runs it holds."""
    for leftover in (home.index, home.index.with_name("mlrb.db-wal"), home.index.with_name("mlrb.db-shm")):
        leftover.unlink(missing_ok=True)
    create(home.index)
    rows = [of_folder(folder) for folder in home.folders()]
    put_all(home.index, rows)
    return len(rows)


def put_all(path: Path, rows: Iterable[RunSummary]) -> None:
    """Put many runs' rows in, in one transaction."""
    connection = sqlite3.connect(path, isolation_level=None)
    _upsert(connection, rows)
    connection.close()


def lost(summary: RunSummary) -> RunSummary:
    """The summary of a run whose runner is gone without a word."""
    why = summary.outcome_detail or "the runner is gone"
    return msgspec.structs.replace(summary, state="ended", outcome="lost", now="", outcome_detail=why)


def refreshed(folder: RunFolder, summary: RunSummary) -> RunSummary:
    """A run that the index calls live, looked at itself: the lock tells, not the row."""
    if summary.state == "ended" or is_held(folder.lock):
        return summary
    fresh = of_folder(folder)
    if fresh.state == "ended" or (fresh.seq == 0 and not folder.lock.exists()):
        return fresh
    return lost(fresh)


def _indexed(path: Path) -> dict[str, RunSummary]:
    decoder = msgspec.json.Decoder(RunSummary)
    try:
        connection = open_readonly(path)
        rows = connection.execute("SELECT run, summary FROM runs").fetchall()
        connection.close()
        return {run: decoder.decode(raw) for run, raw in rows}
    except (RecordError, sqlite3.Error, msgspec.MsgspecError):
        return {}


def _upsert(connection: sqlite3.Connection, rows: Iterable[RunSummary]) -> None:
    marks = ",".join("?" * len(_COLUMNS))
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(
        f"INSERT OR REPLACE INTO runs ({','.join(_COLUMNS)}) VALUES ({marks})", [_row(row) for row in rows]
    )
    connection.execute("COMMIT")


def _row(summary: RunSummary) -> tuple[object, ...]:
    score = summary.final_score or summary.last_score
    return (
        summary.run, summary.task, summary.scale, summary.scaffold, summary.model, summary.state, summary.outcome,
        summary.step, summary.created_at, summary.at, summary.cost_usd, score.value if score else None,
        int(score.valid) if score else None, msgspec.json.encode(summary).decode(),
    )  # fmt: skip


if __name__ == "__main__":
    import sys

    create(Path(sys.argv[1]))
