"""Real servers for models on loopback: fakellm for scripted answers, llama.cpp for a real model's.

Each is a process of its own on a free port, ended with the `with` block. Run as a program this file is the fakellm
server: `python tests/process/model_servers.py FILE_DESCRIPTOR RULES.yaml`.
"""

import json
import os
import selectors
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

BUSY = "busy"
"""Models whose names start so are answered with the status of their rule."""
BUSY_ONCE = "soon-"
"""Models whose names start so are refused the first time that they are asked, each name once."""
RETRY_AFTER_S = 2

Rule = dict[str, object]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


@contextmanager
def fakellm_server(rules: Sequence[Rule], folder: Path) -> Iterator[str]:
    """A fakellm that answers by `rules`, as its README describes them; gives its address, without `/v1`.

    A rule with a status needs `{"model_matches": "busy*"}` in its `when`.
    """
    config = folder / "fakellm.yaml"
    # JSON is YAML, too.
    config.write_text(json.dumps({"version": 1, "rules": list(rules)}), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as listening, (folder / "fakellm.log").open("w") as log:
        # The socket listens already: what is asked before the server is up waits for it.
        descriptor = listening.fileno()
        command = [sys.executable, str(HERE / "model_servers.py"), str(descriptor), str(config)]
        process = subprocess.Popen(command, pass_fds=[descriptor], stdout=log, stderr=log)
        with _ended(process):
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@contextmanager
def smol_server(folder: Path, *options: str, deadline_s: float = 120.0) -> Iterator[str]:
    """SmolLM2 under the model name `smol`; gives its address, without `/v1`. Options as `smol_server.py` has them."""
    command = [sys.executable, str(HERE / "smol_server.py"), *options]
    with (folder / "smol.log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        with _ended(process):
            assert process.stdout is not None
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ)
                ready = selector.select(deadline_s)
            address = process.stdout.readline().strip() if ready else ""
            assert address.startswith("http"), (folder / "smol.log").read_text()[-2000:]
            yield address


@contextmanager
def _ended(process: subprocess.Popen[Any]) -> Iterator[None]:
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def with_refusals(app: App) -> App:
    """Let fakellm refuse streamed requests: it knows the status of a rule only where nothing is streamed."""

    refused: set[str] = set()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        body = await _body(receive)
        name = str(body.get("model", ""))
        if name.startswith(BUSY_ONCE) and name not in refused:
            refused.add(name)
            await _refuse(send)
            return
        if name.startswith(BUSY):
            body["stream"] = False
        waiting = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

        async def receive_changed() -> MutableMapping[str, Any]:
            return waiting.pop() if waiting else await receive()

        async def send_with_retry_after(message: MutableMapping[str, Any]) -> None:
            if message.get("status", 0) == 429:
                message["headers"] = [*message["headers"], (b"retry-after", str(RETRY_AFTER_S).encode())]
            await send(message)

        await app(scope, receive_changed, send_with_retry_after)

    return answer


async def _refuse(send: Send) -> None:
    headers = [(b"content-type", b"application/json"), (b"retry-after", str(RETRY_AFTER_S).encode())]
    await send({"type": "http.response.start", "status": 429, "headers": headers})
    await send({"type": "http.response.body", "body": b'{"error": {"type": "rate_limit_error", "message": "later"}}'})


async def _body(receive: Receive) -> dict[str, Any]:
    raw, more = b"", True
    while more:
        message = await receive()
        raw, more = raw + message.get("body", b""), message.get("more_body", False)
    body = json.loads(raw or b"{}")
    assert isinstance(body, dict)
    return body


def main() -> None:
    """Serve fakellm on a listening socket that was handed over."""
    descriptor, config = int(sys.argv[1]), sys.argv[2]
    os.environ["FAKELLM_CONFIG"] = config
    import uvicorn
    from fakellm.server import app  # type: ignore[import-untyped]

    uvicorn.run(with_refusals(app), fd=descriptor, log_level="warning")


if __name__ == "__main__":
    main()
