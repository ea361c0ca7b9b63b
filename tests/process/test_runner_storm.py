"""A storm of rate limits from a real server: seen, waited out on nobody's time, and a person is heard all the while."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agent.record import events as ev
from agent.record.inbox import Kill, Pause
from mlrb_tui.views.now import activity
from tests.process.runner_runs import Runs, until

RETRY_AFTER_S = 0.3


@contextmanager
def turning_away() -> Iterator[str]:
    """A model server that has no time for anybody; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = b'{"error": {"message": "slow down", "type": "rate_limit_error"}}'
            self.send_response(429)
            self.send_header("Retry-After", str(RETRY_AFTER_S))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def test_twenty_refusals_are_waited_out_visibly_with_the_working_clock_stopped(runs: Runs) -> None:
    with turning_away() as address:
        run = runs.start([], model="openai:busy", base_url=address)
        failed = run.wait_for(ev.ModelFailed)
        assert failed.retry_in_s is not None
        assert failed.retry_in_s >= RETRY_AFTER_S
        summary = run.summary()
        assert summary.state == "running"
        until(lambda: run.summary().waiting, "it waits")
        waiting = run.summary()
        assert activity(waiting, waiting.at).startswith("retrying")
        run.wait_for(ev.ModelFailed, count=20)
        assert all(body.retry_in_s is not None for body in run.bodies(ev.ModelFailed))
        assert run.summary().waited_s > 19 * RETRY_AFTER_S
        run.answer_to(run.post(Pause(strength="step")))
        run.post(Kill())
        assert run.ended().outcome == "killed"
