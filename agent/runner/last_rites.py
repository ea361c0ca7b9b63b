"""Ends a run that has no runner any more: takes down what is left of it and writes its end into the record."""

import os
import socket
import time
from dataclasses import dataclass, field

from agent.errors import RecordError, SandboxUnavailable
from agent.record import events as ev
from agent.record import index
from agent.record.home import Home, RunFolder
from agent.record.inbox import Inbox, Kill, Posted, verb_of
from agent.record.lock import hold
from agent.record.log import EventLog, EventReader
from agent.record.redact import redactor
from agent.record.request import RunRequest, read_request
from agent.record.text import one_line
from agent.record.values import Proof
from agent.runner import gpu_memory
from agent.runner.announcing import run_created
from agent.runner.ending import Verdict
from agent.runner.notify_settings import NotifySettings, read_notify_settings, secrets
from agent.runner.notifying import ended_said, message, start_sender
from agent.sandbox import leftovers
from tasks.errors import UsageError

DAEMON_S = 20.0
"""How long a Docker daemon that does not answer is waited for."""
_LOOK_EVERY_S = 0.2
_NO_RUNNER = "its runner is gone, and every call with it"


def end_run(folder: RunFolder, *, by: str = "", why: str = "") -> tuple[str, ...]:
    """End it as killed, by whoever asked for that in its inbox or else `by`; returns what is left over.

    A run that has ended already is only cleared of what it left. Raises `RunHeld` where a runner has the run, and
    `RecordError`, with everything taken down, where the record can't be written.
    """
    notify = _notify_settings(folder)
    with hold(folder.lock):
        request = _request(folder)
        writer = _Writer()
        try:
            with EventLog(folder.events, redact=redactor(more=secrets(notify))) as log:
                writer.log = log
                _end(folder, request, writer, notify, by=by, why=why)
                if writer.trouble is None:
                    index.update(Home(folder.path.parent.parent).index, log.summary)
        except RecordError as error:
            writer.trouble = writer.trouble or error
            if writer.log is None:
                _clear(folder, request, writer)
        if writer.trouble is not None:
            raise writer.trouble
        return writer.leftovers


@dataclass
class _Writer:
    """Writes what happens as far as the disk takes it: what is left of a run is taken down in any case."""

    log: EventLog | None = None
    trouble: RecordError | None = None
    proofs: list[Proof] = field(default_factory=list)

    def append(self, body: ev.Known) -> None:
        """Record it, unless something before it could not be: a record has no holes."""
        if self.log is None or self.trouble is not None:
            return
        try:
            self.log.append(body, step=self.log.summary.step)
        except RecordError as error:
            self.trouble = error

    def waits(self, proof: Proof) -> None:
        """A proof that is still waited for."""
        self.append(ev.ProofFound(what=proof.what, proven=proof.proven, detail=proof.detail))

    def prove(self, *proofs: Proof) -> None:
        """More lines of the checklist."""
        for proof in proofs:
            self.proofs.append(proof)
            self.waits(proof)

    @property
    def leftovers(self) -> tuple[str, ...]:
        """What is not proven."""
        return tuple(f"{proof.what}: {proof.detail}" for proof in self.proofs if not proof.proven)


def _end(
    folder: RunFolder, request: RunRequest | None, writer: _Writer, notify: NotifySettings, *, by: str, why: str
) -> None:
    log = writer.log
    assert log is not None
    if log.summary.state == "ended":
        _clear_ended(folder, request, writer)
        return
    if log.summary.seq:
        writer.append(ev.RunStarted(pid=os.getpid(), host=socket.gethostname(), resumed=True))
    elif request is not None:
        writer.append(run_created(request))
    kills, others = _asked(folder, writer)
    writer.prove(Proof("model calls", True, _NO_RUNNER))
    _clear(folder, request, writer)
    if log.summary.gpus and request is not None:
        writer.prove(gpu_memory.prove_back(folder, request.sandbox, writer.waits))
    writer.append(ev.SandboxStopped(proofs=tuple(writer.proofs)))
    for request_id in others:
        writer.append(ev.RequestRefused(request_id=request_id, reason="the run ended first"))
    left = writer.leftovers
    for request_id, _ in kills:
        said = f"left over: {'; '.join(left)}" if left else "nothing is left over"
        writer.append(ev.RequestAnswered(request_id=request_id, detail=said))
    detail = one_line(kills[0][1] if kills else f"by {by or 'someone'}{f': {why}' if why else ''}", 300)
    writer.append(ev.RunEnded(outcome="killed", detail=detail))
    if notify.urls and "ended" in notify.on:
        said = ended_said(log.summary, Verdict("killed", detail=detail))
        start_sender(message(notify, log.summary, "ended", said))


def _clear_ended(folder: RunFolder, request: RunRequest | None, writer: _Writer) -> None:
    """What an ended run has left is taken down; the record is told only where that changes what it says."""
    assert writer.log is not None
    quiet = _Writer()
    _clear(folder, request, quiet)
    writer.proofs = quiet.proofs
    if writer.log.summary.leftovers != quiet.leftovers:
        writer.append(ev.SandboxStopped(proofs=tuple(quiet.proofs)))


def _clear(folder: RunFolder, request: RunRequest | None, writer: _Writer) -> None:
    home = Home(folder.path.parent.parent)
    kind = request.sandbox if request is not None else ""
    if kind.startswith("docker"):
        writer.prove(*_without_containers(home, folder.run, kind, writer))
    else:
        writer.prove(leftovers.clear_processes(home, folder.run))


def _without_containers(home: Home, run: str, sandbox: str, writer: _Writer) -> tuple[Proof, ...]:
    """What is proven of a run's containers; a daemon that just restarts is waited for, and that is said."""
    gives_up_at = time.monotonic() + DAEMON_S
    told = False
    while True:
        try:
            return leftovers.clear_containers(home, run, sandbox)
        except SandboxUnavailable as error:
            if time.monotonic() > gives_up_at:
                return (Proof("container", False, error.message),)
            if not told:
                writer.waits(Proof("container", False, f"{error.message}; it is waited for"))
            told = True
            time.sleep(_LOOK_EVERY_S)
        except UsageError as error:
            return (Proof("container", False, error.message),)


def _asked(folder: RunFolder, writer: _Writer) -> tuple[list[tuple[int, str]], list[int]]:
    """Kills, with who asked and why, and other requests, that nobody has answered; all are received by now."""
    verbs: dict[int, str] = {}
    open_ids: dict[int, None] = {}
    last = 0
    with EventReader(folder.events) as reader:
        for event in reader.of_kinds(("request_received", "request_answered", "request_refused", "request_withdrawn")):
            match event.body:
                case ev.RequestReceived(request_id=request_id, verb=verb):
                    verbs[request_id], open_ids[request_id] = verb, None
                    last = max(last, request_id)
                case ev.RequestAnswered() | ev.RequestRefused() | ev.RequestWithdrawn() as body:
                    open_ids.pop(body.request_id, None)
                case _:
                    pass
    posted = {one.request_id: one for one in _inbox(folder)}
    for request_id, one in posted.items():
        if request_id > last:
            verbs[request_id], open_ids[request_id] = _verb(one), None
            writer.append(_received(one))
    kills = [(one, _kill_said(posted.get(one))) for one in open_ids if verbs[one] == "kill"]
    return kills, [one for one in open_ids if verbs[one] != "kill"]


def _inbox(folder: RunFolder) -> list[Posted]:
    """All that was asked; nothing can be any more."""
    inbox = Inbox(folder.inbox)
    try:
        return inbox.shut(0)
    finally:
        inbox.close()


def _received(posted: Posted) -> ev.RequestReceived:
    said = posted.request.why if isinstance(posted.request, Kill) else one_line(posted.raw)
    return ev.RequestReceived(
        request_id=posted.request_id, verb=_verb(posted), text=said, who=posted.who, origin=posted.origin
    )


def _verb(posted: Posted) -> str:
    return "unknown" if posted.request is None else verb_of(posted.request)


def _kill_said(posted: Posted | None) -> str:
    if posted is None or not isinstance(posted.request, Kill):
        return "by someone"
    return f"by {posted.who or 'someone'}{f': {posted.request.why}' if posted.request.why else ''}"


def _notify_settings(folder: RunFolder) -> NotifySettings:
    try:
        return read_notify_settings(Home(folder.path.parent.parent).settings)
    except UsageError:
        return NotifySettings()


def _request(folder: RunFolder) -> RunRequest | None:
    try:
        return read_request(folder.request)
    except RecordError:
        return None
