"""Where runs live: `$MLRB_HOME` and the layout of a run's folder."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.errors import RecordError, RunNotFound
from agent.record.values import RunId

OWNER_ONLY = 0o700


@dataclass(frozen=True)
class RunFolder:
    """The files of one run."""

    path: Path

    @property
    def run(self) -> RunId:
        """The run's id, which is the folder's name."""
        return RunId(self.path.name)

    @property
    def request(self) -> Path:
        """What was asked for; written once by the launcher."""
        return self.path / "run.toml"

    @property
    def events(self) -> Path:
        """The event log; written by the runner alone."""
        return self.path / "events.db"

    @property
    def inbox(self) -> Path:
        """Requests from people; anyone writes."""
        return self.path / "inbox.db"

    @property
    def lock(self) -> Path:
        """Held by the runner while it lives."""
        return self.path / "run.lock"

    @property
    def runner_out(self) -> Path:
        """The runner's own stdout and stderr."""
        return self.path / "runner.out"

    @property
    def ballast(self) -> Path:
        """Room that the runner holds on the disk while it lives."""
        return self.path / "ballast"

    @property
    def submission(self) -> Path:
        """What was submitted, one numbered snapshot a folder."""
        return self.path / "submission"

    @property
    def gradings(self) -> Path:
        """What graders' tools wrote themselves: `<snapshot>-<split>/<file>`."""
        return self.path / "gradings"

    @property
    def work(self) -> Path:
        """The work folder of a local sandbox."""
        return self.path / "work"

    @property
    def guest_socket(self) -> Path:
        """Where the guest of a local sandbox listens."""
        return self.path / "guest.sock"


@dataclass(frozen=True)
class Home:
    """The folder that holds all runs, the index, the generated data and the settings."""

    path: Path

    @classmethod
    def of_user(cls) -> "Home":
        """`$MLRB_HOME`, else the user's data folder; made for its owner alone."""
        given = os.environ.get("MLRB_HOME")
        if given:
            path = Path(given).expanduser().absolute()
        else:
            from platformdirs import user_data_path

            path = user_data_path("mlrb")
        return cls(path).ensure()

    def ensure(self) -> "Home":
        """The same home, with its folders there and closed to others."""
        try:
            for folder in (self.path, self.runs, self.data):
                folder.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
            if self.path.stat().st_mode & 0o077:
                self.path.chmod(OWNER_ONLY)
        except OSError as error:
            raise RecordError(
                f"cannot write to {self.path}: {error.strerror}", hint="set MLRB_HOME to a folder of your own"
            ) from error
        return self

    @property
    def runs(self) -> Path:
        """One folder a run."""
        return self.path / "runs"

    @property
    def data(self) -> Path:
        """Generated task data: `<task>/<scale>-<seed>/{public,private}`."""
        return self.path / "data"

    @property
    def index(self) -> Path:
        """The index over all runs; derived."""
        return self.path / "mlrb.db"

    @property
    def settings(self) -> Path:
        """The user's settings."""
        return self.path / "config.toml"

    def mark(self) -> str:
        """What tells this home from every other one, wherever it is moved; made at the first need.

        A path would not do: two machines that share a Docker daemon may both have it.
        """
        path = self.path / "home.id"
        if not path.exists():
            fresh = path.with_name(f".home.id-{os.urandom(4).hex()}")
            try:
                fresh.write_text(os.urandom(8).hex())
                # Whoever comes first has it: the second finds a whole file there.
                with contextlib.suppress(FileExistsError):
                    os.link(fresh, path)
            except OSError as error:
                raise RecordError(f"cannot write to {self.path}: {error.strerror}") from error
            finally:
                fresh.unlink(missing_ok=True)
        return path.read_text().strip()

    def new_run(self) -> RunFolder:
        """A fresh, empty run folder with an id that no other run has."""
        while True:
            folder = RunFolder(self.runs / os.urandom(4).hex())
            try:
                folder.path.mkdir(mode=OWNER_ONLY)
            except FileExistsError:
                continue
            return folder

    def run_ids(self) -> list[str]:
        """The ids of all run folders, in no order."""
        with os.scandir(self.runs) as entries:
            return [entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")]

    def folders(self) -> Iterator[RunFolder]:
        """Every run folder."""
        return (RunFolder(self.runs / run) for run in self.run_ids())

    def find(self, name: str) -> RunFolder:
        """The run of that id, of that unambiguous start of an id, or the `last` one made."""
        ids = self.run_ids()
        if name == "last" and ids:
            return RunFolder(max((self.runs / run for run in ids), key=_made_at))
        if name in ids:
            return RunFolder(self.runs / name)
        matches = sorted(run for run in ids if name and run.startswith(name))
        if len(matches) == 1:
            return RunFolder(self.runs / matches[0])
        if matches:
            raise RunNotFound(
                f"{name!r} is the start of {len(matches)} runs",
                hint="give more of the id: " + ", ".join(matches[:5]),
            )
        raise RunNotFound(f"there is no run {name!r}", hint="mlrb ls shows the runs there are")


def _made_at(path: Path) -> float:
    request = path / "run.toml"
    return (request if request.exists() else path).stat().st_mtime
