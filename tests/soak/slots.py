"""Eight places that always hold a run: one that ends is replaced, a lost one taken up, and nobody is left waiting."""

import asyncio
import random
import time
from dataclasses import dataclass, field
from pathlib import Path

from agent.errors import RecordError
from agent.record.home import Home, RunFolder
from agent.record.index import of_folder
from agent.record.lock import is_held
from agent.record.values import RunSummary
from agent.sandbox.guest.processes import Process, look
from tests.soak import material
from tests.soak.command import Commands
from tests.soak.schedule import Place

_GLANCE_S = 0.4
_LOST_S = 4.0
"""A lost run that no fault is busy with is taken up after so long."""
_PAUSED_S = 8.0
_ASKING_S = 1.5
_WORDS = (("--accept",), ("--accept",), ("--reject", "not now"), ("--always", "--yes"))


@dataclass
class Slot:
    """One place, and the run that it holds."""

    number: int
    place: Place
    home: Home
    commands: Commands
    seed: int
    folder: RunFolder | None = None
    runs: list[str] = field(default_factory=list)
    busy: int = 0
    """How many faults are at work on the run: they bring it back themselves."""
    over: bool = False
    """No further run is launched, and what waits for a person is let go."""

    async def keep(self) -> None:
        """Keep a run going until it is over and the last one has ended."""
        while not self.over:
            self.folder = await self.launch(len(self.runs))
            await self._see_to_its_end(self.folder)

    async def launch(self, number: int) -> RunFolder:
        """Launch a run, whose script follows from the seed."""
        rng = random.Random(f"{self.seed} {self.number} {number}")
        script = self.home.path.parent / f"script-{self.number}-{number}.jsonl"
        script.write_text(material.script(rng))
        options = ["--model", f"scripted:{script}", "--sandbox", "local" if self.place == "local" else "docker"]
        options += ["--pace", f"{rng.uniform(0.1, 0.8):.2f}", "--on-limit", "pause", "--json"]
        options += ["--approve"] if rng.random() < 0.1 else []
        # A daemon that is away at that moment launches nothing; nor does a person wait for it without trying again.
        while (said := await self.commands.mlrb("run", material.TASK, *options)).code != 0:
            await asyncio.sleep(1.0)
        run = str(said.out.split('"')[3])
        self.runs.append(run)
        return RunFolder(self.home.runs / run)

    async def _see_to_its_end(self, folder: RunFolder) -> None:
        rng = random.Random(f"{folder.run} {self.seed}")
        waits_since: dict[str, float] = {}
        while True:
            summary = of_folder(folder)
            alive = is_held(folder.lock)
            if summary.state == "ended" and not alive:
                return
            needs = "" if self.busy else _needs(summary, alive=alive)
            waits_since = {needs: waits_since.get(needs, time.monotonic())}
            if needs and time.monotonic() - waits_since[needs] > _patience_s(needs, over=self.over):
                await self._help(folder, needs, rng)
                waits_since = {}
            await asyncio.sleep(_GLANCE_S)

    async def _help(self, folder: RunFolder, needs: str, rng: random.Random) -> None:
        match needs:
            case "word":
                await self.commands.mlrb("approve", folder.run, *(_WORDS[0] if self.over else rng.choice(_WORDS)))
            case "room":
                await self.commands.mlrb("limits", folder.run, "steps=+40", "time=+5m", "--why", "it stands at a limit")
                await self.commands.mlrb("resume", folder.run)
            case _:
                await self.commands.mlrb("resume", folder.run)

    def runner(self) -> Process | None:
        """The process that holds the lock of the run."""
        if self.folder is None or not is_held(self.folder.lock):
            return None
        try:
            process = look(int(self.folder.lock.read_text()))
            words = Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0") if process else []
        except (OSError, ValueError):
            return None
        return process if b"agent.runner" in words else None


def state_of(folder: RunFolder) -> RunSummary:
    """How a run stands; one whose record cannot be read yet is queued."""
    try:
        return of_folder(folder)
    except RecordError:
        return RunSummary(run=folder.run)


def _needs(summary: RunSummary, *, alive: bool) -> str:
    """What a run waits for that only a person can give."""
    if not alive:
        return "runner"
    if summary.approval is not None:
        return "word"
    if summary.state == "paused":
        return "room" if summary.pause_limit is not None else "resume"
    return ""


def _patience_s(needs: str, *, over: bool) -> float:
    if over:
        return 0.5
    return {"runner": _LOST_S, "word": _ASKING_S}.get(needs, _PAUSED_S)
