"""A run that is alive and talks much: `python -m tests.bench.live_writer RUN_DIR EVENTS_A_SECOND SECONDS`.

Not a double of anything: it holds the run's lock and appends to its log through the real writing end.
"""

import sys
import time
from pathlib import Path

from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.lock import hold
from agent.record.log import EventLog
from agent.record.values import Gpu, Host, Progress

TOKEN = "tok{:06}"


def main(path: str, rate: str, seconds: str) -> None:
    """Append `rate` numbered events a second, in bursts of at most 10 ms, then leave the run alive until told."""
    folder = RunFolder(Path(path))
    with hold(folder.lock), EventLog(folder.events) as log:
        log.append(ev.StepStarted(), step=log.summary.step + 1)
        log.append(ev.ToolCalled(call_id="live", tool="bash", summary="python train.py --live"))
        print("ready", flush=True)
        sys.stdin.readline()
        _stream(log, float(rate), float(seconds))
        print("done", flush=True)
        sys.stdin.readline()
        log.append(ev.RunEnded(outcome="submitted"))


def _stream(log: EventLog, rate: float, seconds: float) -> None:
    start = time.monotonic()
    written = 0
    while (passed := time.monotonic() - start) < seconds:
        while written < passed * rate:
            written += 1
            log.append(_body(written), step=log.summary.step)
            if log.summary.seq % 500 == 0:
                log.heartbeat()
        time.sleep(0.01 if rate > 100 else 0.5 / rate)


def _body(number: int) -> ev.AnyBody:
    """Nine pieces of output, then a sample: what a chatty training looks like."""
    match number % 40:
        case 10:
            return ev.HostSampled(host=Host(cpu_percent=100 + number % 90, memory_used_bytes=2_000_000_000 + number))
        case 20:
            loss = 3 + 100 / (number + 1)
            return ev.ProgressSeen(
                call_id="live",
                progress=Progress(values={"loss": loss}, rate=18_000.0 + number % 500, rate_unit="tok/s"),
            )
        case 30:
            gpu = Gpu(index=0, name="bench", memory_used_bytes=number * 1000, memory_total_bytes=40 * 10**9)
            return ev.GpuSampled(gpus=(gpu,))
    text = f"{TOKEN.format(number)} at {time.time():.3f} step {number} loss {3 + 1 / number:.4f}\n"
    return ev.ToolOutput(call_id="live", text=text)


if __name__ == "__main__":
    main(*sys.argv[1:])
