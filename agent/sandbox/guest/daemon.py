"""The guest's event loop: requests in, commands run, output and results out, whether or not a host is listening."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import struct

from .channel import Channel
from .command import Command
from .commands import Setting
from .files import Writing
from .gpus import Gpus
from .meter import Meter
from .sessions import Sessions
from .wire import Header, unpack
from .worker import Worker, failure


class Daemon:
    """Serves one host at a time; a command goes on when the host goes away."""

    def __init__(self, setting: Setting) -> None:
        self._selector = selectors.DefaultSelector()
        self._meter = Meter(setting.own_group, setting.workdir)
        self._gpus = Gpus()
        self._sessions = Sessions(setting, self._watch, self._unwatch, lambda: self._meter.oom_kills() or 0)
        self._channel: Channel | None = None
        self._listener: socket.socket | None = None
        self._admitted: int | None = None
        self._writings: dict[object, Writing] = {}
        self._worker = Worker(setting.workdir)
        self._ended = False
        self._watch(self._worker.wake, "worker")
        self._watch(_hear_children(), "children")

    def serve_stream(self, source: int, target: int) -> None:
        """Serve the host at the other end of two descriptors, for ever."""
        self._open(Channel(source, target))
        self._run()

    def serve_socket(self, listener: socket.socket, admitted: int | None = None) -> None:
        """Serve whoever connected last, of this user only where one is given, until told to shut down."""
        listener.setblocking(False)
        self._admitted = admitted
        self._listener = listener
        self._watch(listener.fileno(), "listener")
        self._run()

    def _watch(self, descriptor: int, what: object, events: int = selectors.EVENT_READ) -> None:
        self._selector.register(descriptor, events, what)

    def _unwatch(self, descriptor: int) -> None:
        if descriptor in self._selector.get_map():
            self._selector.unregister(descriptor)

    def _run(self) -> None:
        while not self._ended:
            # A wait in which we were stopped ends with nothing ready, whatever has come meanwhile: asked again.
            for key, _ in self._selector.select(self._sessions.wait_s) or self._selector.select(0):
                self._handle(key.fd, key.data)
            self._sessions.go_on(self._channel)
            self._flush()

    def _handle(self, descriptor: int, what: object) -> None:
        if isinstance(what, Command):
            self._sessions.pump(what)
        elif isinstance(what, Channel):
            if descriptor == what.source:
                for request in what.requests():
                    self._answer(request, what)
        elif what == "worker":
            for asker, frames in self._worker.answers():
                if isinstance(asker, Channel) and asker is self._channel:
                    for header, payload in frames:
                        asker.send(header, payload)
        elif what == "children":
            os.read(descriptor, 4096)
        elif what == "listener":
            self._accept()

    # The stream to the host

    def _accept(self) -> None:
        assert self._listener is not None
        try:
            connection, _ = self._listener.accept()
        except BlockingIOError:
            return
        if self._admitted is not None and _user_of(connection) != self._admitted:
            # The agent's processes can reach the socket as well, and can't become anybody else.
            connection.close()
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
        elif channel.source == channel.target:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if channel.wants_to_write else 0)
            self._selector.modify(channel.source, events, channel)
        elif not channel.wants_to_write:
            self._unwatch(channel.target)
        elif channel.target not in self._selector.get_map():
            self._watch(channel.target, channel, selectors.EVENT_WRITE)

    # What the host asks

    def _answer(self, request: Header, channel: Channel) -> None:
        try:
            reply, payload = self._do(request, channel)
        except (OSError, ValueError, TypeError, KeyError) as error:
            reply, payload = failure(request, error), b""
        if reply is not None:
            channel.send(reply, payload)

    def _do(self, request: Header, channel: Channel) -> tuple[Header | None, bytes]:
        done: Header = {"re": request.get("id"), "done": True}
        op = request.get("op")
        if op == "run":
            # What follows is answer enough, and every frame costs a way through the daemon.
            self._sessions.of(request).start(request)
            return None, b""
        if op == "stood":
            self._sessions.stood(float(str(request["seconds"])))
            return None, b""
        if op == "attach":
            self._sessions.forget_host()
            return {"event": "attached"}, unpack(request["secret"])
        if op == "state":
            return {**done, **self._sessions.state()}, b""
        if op == "follow":
            return {**done, "known": self._sessions.follow(request)}, b""
        if op == "interrupt":
            ended = self._sessions.of(request).interrupt()
            return {**done, "running": bool(ended), "command": ended}, b""
        if op == "write":
            self._write(request)
            return done, b""
        if op == "sample":
            return {**done, **self._meter.sample()}, b""
        if op == "gpus":
            return {**done, "gpus": self._gpus.sample()}, b""
        self._worker.give(channel, self._resolved(request))
        return None, b""

    def _resolved(self, request: Header) -> Header:
        """Paths of single files are meant from where the last command left off."""
        if request.get("op") != "read":
            return request
        return {**request, "path": os.path.join(self._sessions.of(request).workdir, str(request["path"]))}

    def _write(self, request: Header) -> None:
        key = request["file"]
        if key not in self._writings:
            self._writings[key] = Writing(os.path.join(self._sessions.of(request).workdir, str(request["path"])))
        writing = self._writings[key]
        try:
            writing.add(unpack(request["data"]))
        except (OSError, ValueError):
            self._writings.pop(key).abandon()
            raise
        if request["last"]:
            self._writings.pop(key).finish()


def _user_of(connection: socket.socket) -> int:
    """Whose process is at the other end; the kernel says so."""
    size = struct.calcsize("3i")
    return int(struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[1])


def _hear_children() -> int:
    """A descriptor that becomes readable when a child has ended."""
    heard, ring = os.pipe()
    os.set_blocking(heard, False)
    os.set_blocking(ring, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
    return heard
