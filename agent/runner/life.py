"""One run from launch to end: start, work, score, take down, end; whatever breaks, the record says so."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import sys
import traceback
from collections.abc import Coroutine

from agent.errors import RunError, SandboxLost, SandboxUnreachable
from agent.record import events as ev
from agent.record import index
from agent.record.home import Home, RunFolder
from agent.record.inbox import Inbox
from agent.record.log import EventLog
from agent.record.request import RunRequest
from agent.record.text import one_line
from agent.runner import taking_down, taking_up, watch
from agent.runner.agent_at_work import Equipment, lead
from agent.runner.announcing import run_created, sandbox_started
from agent.runner.approvals import Approvals
from agent.runner.ballast import Ballast
from agent.runner.controlling import Controlling, last_change
from agent.runner.controls import Controls
from agent.runner.ending import Ending, Verdict
from agent.runner.gates import Gates
from agent.runner.grading import Grading
from agent.runner.injections import Injections
from agent.runner.journal import Journal
from agent.runner.notify_settings import NotifySettings
from agent.runner.notifying import Notifier
from agent.runner.outages import Outages
from agent.runner.pausing import Pausing
from agent.runner.placement import Placement, placement_for
from agent.runner.resuming import Remains
from agent.runner.steering import Steering
from agent.runner.voices import Voices
from agent.runner.workspace import bare_plan, lay_out, plan_of, prepare_data
from agent.sandbox.base import Sandbox, StartedSandbox
from agent.sandbox.choose import choose
from agent.scaffolds.catalogue import scaffold
from tasks import catalogue
from tasks.errors import MlrbError

_OVER = "the agent's work is over; the run is being scored"


class Life:
    """A run's life; `live` returns when the run has ended and its record says how."""

    def __init__(
        self,
        folder: RunFolder,
        request: RunRequest,
        log: EventLog,
        inbox: Inbox,
        remains: Remains | None,
        notify: NotifySettings,
        trouble: str = "",
    ) -> None:
        self._folder = folder
        self._request = request
        self._resumed = remains is not None
        self._remains = remains or Remains()
        self._index = Home(folder.path.parent.parent).index
        self._journal = Journal(log, Ballast(folder.ballast))
        self._ending = Ending()
        self._notifier = Notifier(notify, self._journal)
        self._notify_trouble = trouble
        self._controls = self._wired(inbox)
        self._voices: Voices | None = None
        self._placement: Placement | None = None
        self._sandbox: Sandbox | None = None
        self._equipment: Equipment | None = None
        self._sandbox_lost = False
        self._beside: set[asyncio.Task[None]] = set()
        self._errands: set[asyncio.Task[None]] = set()
        """What people asked for and takes long: a score, an interrupt."""

    async def live(self) -> Verdict:
        """Live it."""
        self._announce()
        remains = self._remains
        taking_up.set_right(remains, self._journal)
        self._journal.listeners.append(self._notifier.hear)
        if self._notify_trouble:
            self._notifier.complain(self._notify_trouble)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._terminated, number)
        steering = self._controls.steering
        if remains.verdict is not None:
            steering.closed_for = _OVER
        await steering.take_up(remains.requests.undone)
        self._go_on_beside(steering.watch())
        self._go_on_beside(watch.keep_beating(self._journal))
        self._go_on_beside(watch.keep_indexed(self._journal, self._index))
        self._go_on_beside(watch.end_without_folder(self._folder, self._ending))
        if not remains.graded:
            # What is only to be scored still needs its sandbox: a fresh copy may have to be taken out of it.
            await self._guarded(self._ending.phase(self._start(), only_kill=remains.verdict is not None))
        if remains.verdict is not None:
            self._ending.decide(remains.verdict)
        await self._guarded(self._ending.phase(self._work()))
        steering.closed_for = _OVER
        if not remains.graded:
            self._note_verdict()
            await self._guarded(self._ending.phase(self._score(), only_kill=True))
        if self._ending.left:
            return await self._leave()
        self._ending.seal()
        await self._guarded(self._take_down())
        if self._placement is not None:
            await self._guarded(self._placement.give_back())
        return await self._end()

    def _wired(self, inbox: Inbox) -> Controls:
        journal, ending = self._journal, self._ending
        pausing, injections = Pausing(journal), Injections(journal)
        requests = self._remains.requests
        injections.take_up(requests.queued, requests.undelivered)
        asks = journal.summary.approve if self._resumed else self._request.approve
        approvals = Approvals(journal, pausing, self._request.approve_rules, on=asks)
        approvals.take_up(self._remains.standing)
        grading = Grading(self._folder, self._request, journal)
        gates = Gates(journal, pausing, ending, self._request.on_limit)
        controlling = Controlling(inbox, journal, last_change(self._folder) if self._resumed else 0)
        steering = Steering(
            inbox=inbox, controlling=controlling, last_seen=requests.last, journal=journal, pausing=pausing,
            approvals=approvals, injections=injections, ending=ending, grading=grading, gates=gates,
            start=self._run_errand,
        )  # fmt: skip
        return Controls(journal, pausing, approvals, ending, injections, grading, steering, gates)

    def _announce(self) -> None:
        request = self._request
        if not self._resumed:
            self._journal.append(run_created(request))
        self._journal.append(ev.RunStarted(pid=os.getpid(), host=socket.gethostname(), resumed=self._resumed))

    async def _start(self) -> None:
        request = self._request
        task = catalogue.load(request.task)
        if request.scale not in task.spec.scales:
            raise RunError(f"{request.task} has no scale {request.scale!r}")
        led_by = scaffold(request.scaffold)
        self._voices = voices = Voices(request, task.baseline_script, parts=led_by.parts)
        await voices.warm()
        data = await prepare_data(self._folder, task, request)
        self._placement = placement_for(self._folder, request, task, self._journal, self._remains.placed)
        place = await self._placement.take()
        workspace = await lay_out(self._folder, task, data)
        plan = plan_of(self._folder, task, request, workspace, place.gpus)
        self._sandbox = sandbox = choose(request.sandbox, plan)
        sandbox.tell(Outages(self._journal, self._broke))
        if self._remains.sandbox is not None:
            started = await taking_up.sandbox_again(self._folder, self._remains, self._controls, task, sandbox)
        else:
            started = await self._begun(sandbox)
        await asyncio.to_thread(shutil.rmtree, workspace, ignore_errors=True)
        self._equipment = Equipment(task, led_by, voices, sandbox, started)
        self._controls.pausing.sandbox_started(sandbox)
        self._controls.grading.sandbox_started(task, sandbox, started.sandbox, started.image)
        self._journal.append(sandbox_started(request, started, network=task.spec.network, placed=place.notice))

    async def _begun(self, sandbox: Sandbox) -> StartedSandbox:
        """A fresh sandbox; what a runner before us had only half started is cleared away first."""
        if self._resumed:
            await choose(self._request.sandbox, bare_plan(self._folder)).stop()
            await asyncio.to_thread(shutil.rmtree, self._folder.work, ignore_errors=True)
        return await sandbox.start()

    async def _work(self) -> None:
        if self._equipment is not None:
            await lead(self._request, self._controls, self._equipment, self._remains)

    def _note_verdict(self) -> None:
        """Should we be lost while it is scored, the next runner scores it and does not let the agent go on."""
        verdict, scored = self._ending.verdict, self._controls.grading.possible
        if scored and verdict is not None and not (self._ending.killed or self._ending.left or self._remains.verdict):
            body = ev.WorkEnded(outcome=verdict.outcome, limit=verdict.limit, detail=verdict.detail)
            self._journal.append(body)

    async def _score(self) -> None:
        if self._ending.left:
            return
        # What cannot be thawed may still have files that can be read.
        with contextlib.suppress(SandboxLost):
            await self._controls.pausing.let_go()
        if self._controls.grading.possible:
            await self._controls.grading.grade("final")

    async def _take_down(self) -> None:
        await self._give_up_errands()
        voices, self._voices = self._voices, None
        model_gone = await taking_down.closed(voices)
        if self._remains.taken_down:
            return
        sandbox, killed = self._sandbox, self._ending.killed
        if sandbox is None and (self._resumed or killed):
            # We never came to start it or take it up, but a runner before us may have.
            sandbox = choose(self._request.sandbox, bare_plan(self._folder))
        if sandbox is None:
            return
        if killed:
            proofs = await taking_down.with_checklist(
                self._journal, self._folder, model_gone, sandbox, self._request.sandbox
            )
        else:
            proofs = await taking_down.stopped(sandbox)
        self._journal.append(ev.SandboxStopped(proofs=proofs))

    async def _give_up_errands(self) -> None:
        """A grader that somebody asked for must not outlive the run."""
        for errand in list(self._errands):
            errand.cancel()
        await asyncio.gather(*self._errands, return_exceptions=True)

    async def _leave(self) -> Verdict:
        """Go without an end: the sandbox is out of reach, and whoever takes the run up finds all as it is."""
        verdict = self._ending.verdict
        assert verdict is not None
        await self._give_up_errands()
        await taking_down.closed(self._voices)
        await self._stop_beside()
        self._journal.append(ev.RunLeft(reason=verdict.detail))
        await self._journal.drained()
        index.update(self._index, self._journal.summary)
        return verdict

    async def _stop_beside(self) -> None:
        for task in list(self._beside):
            task.cancel()
        await asyncio.gather(*self._beside, return_exceptions=True)

    async def _end(self) -> Verdict:
        """Answer who still waits, then the last event."""
        controls = self._controls
        controls.steering.closed_for = "the run has ended"
        await self._stop_beside()
        await controls.steering.read_last()
        over = "the run ended first"
        controls.pausing.refuse_wished(over)
        controls.injections.refuse_rest(over)
        controls.approvals.refuse_rest(over)
        controls.steering.refuse_rest(over)
        leftovers = self._journal.summary.leftovers
        controls.steering.answer_kills(f"left over: {'; '.join(leftovers)}" if leftovers else "nothing is left over")
        verdict = self._ending.verdict or Verdict("failed", detail="the run ended without saying how")
        await self._notifier.run_ends(verdict)
        self._journal.append(ev.RunEnded(outcome=verdict.outcome, limit=verdict.limit, detail=verdict.detail))
        await self._journal.drained()
        index.update(self._index, self._journal.summary)
        return verdict

    async def _guarded(self, work: Coroutine[object, object, None]) -> None:
        """Do it; what breaks ends the run as failed, with everything before it stored."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - the runner's outermost frame
            self._broke(error)

    def _broke(self, error: BaseException) -> None:
        if isinstance(error, MlrbError):
            print(error.message, f"({error.__cause__!r})" if error.__cause__ else "", file=sys.stderr)
        else:
            traceback.print_exception(error)
        if isinstance(error, SandboxUnreachable):
            self._ending.decide(Verdict("lost", detail=one_line(error.message)))
            return
        if isinstance(error, SandboxLost) and not self._sandbox_lost:
            self._sandbox_lost = True
            self._journal.append(ev.SandboxLost(reason=error.message))
        said = error.message if isinstance(error, MlrbError) else f"{type(error).__name__}: {error}"
        decided = self._ending.verdict or self._remains.verdict
        if decided is not None:
            self._journal.append(ev.AlertRaised(alert="broken", message=one_line(said)))
        hint = f" ({error.hint})" if isinstance(error, MlrbError) and error.hint else ""
        self._ending.decide(decided or Verdict("failed", detail=one_line(f"{said}{hint}", 300)))

    def _run_errand(self, work: Coroutine[object, object, None]) -> None:
        """As `_go_on_beside`, and given up before the sandbox is taken down."""
        errand = self._go_on_beside(work)
        self._errands.add(errand)
        errand.add_done_callback(self._errands.discard)

    def _go_on_beside(self, work: Coroutine[object, object, None]) -> "asyncio.Task[None]":
        """Run it beside the agent; what breaks there ends the run, and is not lost in a task nobody waits for."""
        task = asyncio.ensure_future(work)
        self._beside.add(task)
        task.add_done_callback(self._done_beside)
        return task

    def _done_beside(self, task: asyncio.Task[None]) -> None:
        self._beside.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._broke(error)

    def _terminated(self, number: int) -> None:
        name = signal.Signals(number).name
        self._ending.decide(Verdict("killed", detail=f"terminated by {name}"))
