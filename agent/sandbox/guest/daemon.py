"""The guest's event loop: requests in, commands run, output and results out, whether or not a host is listening."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass

from .channel import Channel
from .command import Command
from .files import Writing
from .meter import Meter
from .processes import Process, descendants, send, table
from .shell import Memory, Shell
from .spool import Spool
from .wire import Header, unpack
from .worker import Worker, failure

_OUTPUT_BYTES = 64 * 1024
_SHUTDOWN_S = 5.0


@dataclass(frozen=True)
class Setting:
    """What the guest is started with."""

    workdir: str
    spool_folder: str
    spool_bytes: int
    own_group: bool
    environment: Mapping[str, str]


class Daemon:
    """Serves one host at a time; a command goes on when the host goes away."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._memory = Memory(setting.workdir)
        self._spare = Shell(self._memory, setting.environment)
        self._command: Command | None = None
        self._draining: list[Command] = []
        self._quiet: dict[Command, float] = {}
        self._channel: Channel | None = None
        self._writings: dict[object, Writing] = {}
        self._meter = Meter(setting.own_group)
        self._worker = Worker(setting.workdir)
        self._selector = selectors.DefaultSelector()
        self._listener: socket.socket | None = None
        self._ended = False
        self._childless = False
        self._left: list[Process] = []
        self._watch(self._worker.wake, "worker")
        self._watch(self._hear_children(), "children")

    def serve_stream(self, source: int, target: int) -> None:
        """Serve the host at the other end of two descriptors, for ever."""
        self._open(Channel(source, target))
        self._run()

    def serve_socket(self, listener: socket.socket) -> None:
        """Serve whoever connected last, until told to shut down."""
        listener.setblocking(False)
        self._listener = listener
        self._watch(listener.fileno(), "listener")
        self._run()

    def _hear_children(self) -> int:
        heard, ring = os.pipe()
        os.set_blocking(heard, False)
        os.set_blocking(ring, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        return heard

    def _watch(self, descriptor: int, what: object, events: int = selectors.EVENT_READ) -> None:
        self._selector.register(descriptor, events, what)

    def _unwatch(self, descriptor: int) -> None:
        if descriptor in self._selector.get_map():
            self._selector.unregister(descriptor)

    # The loop

    def _run(self) -> None:
        while not self._ended:
            for key, _ in self._selector.select(self._wait_s()):
                self._handle(key.fd, key.data)
            self._reap()
            self._look_at_command()
            self._wake_quiet()
            self._stream()
            self._flush()

    def _wait_s(self) -> float | None:
        waits = [until - time.monotonic() for until in self._quiet.values()]
        if self._command is not None and self._command.result is None:
            waits.append(self._command.next_tick_s)
        return max(0.0, min(waits)) if waits else None

    def _handle(self, descriptor: int, what: object) -> None:
        if isinstance(what, Command):
            self._pump(what)
        elif isinstance(what, Channel):
            if descriptor == what.source:
                for request in what.requests():
                    self._answer(request)
        elif what == "worker":
            for asker, frames in self._worker.answers():
                if asker is self._channel and self._channel is not None:
                    for header, payload in frames:
                        self._channel.send(header, payload)
        elif what == "children":
            os.read(descriptor, 4096)
        elif what == "listener":
            self._accept()

    def _accept(self) -> None:
        assert self._listener is not None
        try:
            connection, _ = self._listener.accept()
        except BlockingIOError:
            return
        self._close()
        self._open(Channel(connection.fileno(), connection.fileno(), connection))

    def _open(self, channel: Channel) -> None:
        self._channel = channel
        self._watch(channel.source, channel)

    def _close(self) -> None:
        if self._channel is None:
            return
        for descriptor in {self._channel.source, self._channel.target}:
            self._unwatch(descriptor)
        if self._listener is not None:
            self._channel.close()
            self._channel = None
        for writing in self._writings.values():
            writing.abandon()
        self._writings.clear()

    def _flush(self) -> None:
        channel = self._channel
        if channel is None:
            return
        channel.flush()
        if channel.closed:
            self._close()
            return
        if channel.source == channel.target:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if channel.wants_to_write else 0)
            self._selector.modify(channel.source, events, channel)
        elif channel.wants_to_write:
            if channel.target not in self._selector.get_map():
                self._watch(channel.target, channel, selectors.EVENT_WRITE)
        else:
            self._unwatch(channel.target)

    # Commands

    def _pump(self, command: Command) -> None:
        descriptor = command.output
        if descriptor is None:
            return
        quiet_s = command.pump()
        if command.output is None:
            self._unwatch(descriptor)
            if command in self._draining:
                self._draining.remove(command)
        elif quiet_s:
            self._unwatch(descriptor)
            self._quiet[command] = time.monotonic() + quiet_s

    def _wake_quiet(self) -> None:
        now = time.monotonic()
        for command in [command for command, until in self._quiet.items() if until <= now]:
            del self._quiet[command]
            if command.output is not None:
                self._watch(command.output, command)

    def _reap(self) -> None:
        """Take in every process that has ended: the commands' own, and orphans that became the guest's."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self._childless = True
                return
            self._childless = False
            if pid == 0:
                return
            if self._command is not None and pid == self._command.pid:
                code = os.waitstatus_to_exitcode(status)
                self._memory = self._command.exited(code if code >= 0 else 128 - code)
            elif pid == self._spare.pid:
                self._spare.discard()
                self._spare = Shell(self._memory, self._setting.environment)

    def _look_at_command(self) -> None:
        command = self._command
        if command is None or command.result is not None:
            return
        descriptor = command.output
        command.tick(self._childless)
        if command.output is None and descriptor is not None:
            self._unwatch(descriptor)
        if command.result is None:
            return
        command.result["workdir"] = self._memory.workdir
        if command.output is not None:
            # Something still runs and may write: it must not meet a closed pipe or a full one.
            self._draining.append(command)
        self._left = command.left
        self._stream()
        self._flush()
        self._spare = Shell(self._memory, self._setting.environment)

    def _stream(self) -> None:
        """Send the host what it has not had of the command's output, and then how it ended."""
        command, channel = self._command, self._channel
        if command is None or channel is None or channel.closed or command.streamed_bytes < 0:
            return
        while channel.has_room:
            data = command.spool.read(command.streamed_bytes, _OUTPUT_BYTES)
            if not data:
                break
            header: Header = {"event": "output", "command": command.name, "at": command.streamed_bytes}
            channel.send(header, data)
            command.streamed_bytes += len(data)
        if command.result is not None and command.streamed_bytes >= command.spool.kept_bytes:
            channel.send({"event": "ended", "command": command.name, **command.result})
            command.streamed_bytes = -1

    # Requests

    def _answer(self, request: Header) -> None:
        channel = self._channel
        if channel is None:
            return
        try:
            reply, payload = self._do(request, channel)
        except (OSError, ValueError, TypeError, KeyError) as error:
            reply, payload = failure(request, error), b""
        if reply is not None:
            channel.send(reply, payload)

    def _do(self, request: Header, channel: Channel) -> tuple[Header | None, bytes]:
        op = request.get("op")
        done: Header = {"re": request.get("id"), "done": True}
        if op == "attach":
            if self._command is not None:
                # The new host says itself from where on it wants the output.
                self._command.streamed_bytes = -1
            return {"event": "attached", **self._state()}, unpack(request["secret"])
        if op == "state":
            return {**done, **self._state()}, b""
        if op == "run":
            # What follows is answer enough, and every frame costs a way through the daemon.
            self._start(request)
            return None, b""
        if op == "follow":
            return {**done, "known": self._follow(request)}, b""
        if op == "interrupt":
            return {**done, "running": self._interrupt()}, b""
        if op == "write":
            self._write(request)
            return done, b""
        if op == "sample":
            return {**done, **self._meter.sample()}, b""
        if op == "shutdown":
            self._ended = True
            return {**done, "left": self._end_all()}, b""
        self._worker.give(channel, self._resolved(request))
        return None, b""

    def _state(self) -> Header:
        command = self._command
        return {
            "running": command.name if command is not None and command.result is None else "",
            "last": command.name if command is not None else "",
            "workdir": self._memory.workdir,
        }

    def _start(self, request: Header) -> None:
        name, text, timeout_s = str(request["command"]), str(request["text"]), request["timeout_s"]
        if not isinstance(timeout_s, (int, float)):
            raise TypeError("timeout_s is no number")
        if self._command is not None and self._command.name == name:
            # Asked twice, as after a cut: it must not run twice.
            self._follow(request)
            return
        if self._command is not None:
            if self._command.result is None:
                raise BlockingIOError(f"{self._command.name} still runs")
            self._command.spool.close()
        spool = Spool(self._setting.spool_folder, self._setting.spool_bytes)
        before = {process.key for process in self._left}
        self._command = Command(name, self._spare, self._memory, spool, timeout_s, before)
        self._watch(self._spare.output, self._command)
        self._command.start(text.replace("\0", "\\0"))

    def _follow(self, request: Header) -> bool:
        if self._command is None or self._command.name != request["command"]:
            return False
        offset = request.get("at", 0)
        if not isinstance(offset, int) or offset < 0:
            raise ValueError("at is no offset")
        self._command.streamed_bytes = min(offset, self._command.spool.kept_bytes)
        return True

    def _interrupt(self) -> bool:
        if self._command is None or self._command.result is not None:
            return False
        self._command.end("interrupted")
        return True

    def _resolved(self, request: Header) -> Header:
        """Paths of single files are meant from where the last command left off."""
        if request.get("op") != "read":
            return request
        return {**request, "path": os.path.join(self._memory.workdir, str(request["path"]))}

    def _write(self, request: Header) -> None:
        key = request["file"]
        if key not in self._writings:
            self._writings[key] = Writing(os.path.join(self._memory.workdir, str(request["path"])))
        writing = self._writings[key]
        try:
            writing.add(unpack(request["data"]))
        except (OSError, ValueError):
            self._writings.pop(key).abandon()
            raise
        if request["last"]:
            self._writings.pop(key).finish()

    def _end_all(self) -> int:
        """End every process below; returns how many would not."""
        deadline = time.monotonic() + _SHUTDOWN_S
        while time.monotonic() < deadline:
            left = [process for process in descendants(os.getpid(), table()) if process.alive]
            if not left:
                return 0
            send(left, signal.SIGKILL)
            time.sleep(0.01)
            self._reap_quietly()
        return len(left)

    def _reap_quietly(self) -> None:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
