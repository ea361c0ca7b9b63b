"""`python -m agent.runner.notify_send`: sends one notification; what and to whom is JSON on stdin.

A process of its own, so that no service can hold a run up; it prints what failed as a JSON list, without any address.
"""

import logging
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import msgspec
from msgspec import Struct

from agent.runner.notify_settings import named

TIME_OUT_S = 30
MISSING = "Apprise is not installed: pip install 'mlrb[notify]'"


class Message(Struct, frozen=True, kw_only=True):
    """What is sent, and to whom."""

    urls: tuple[str, ...]
    title: str
    body: str


def main() -> int:
    """Exit code 0 where every service took it."""
    # Whatever hangs below us ends with us.
    signal.alarm(TIME_OUT_S)
    message = msgspec.json.decode(sys.stdin.buffer.read(), type=Message)
    # Apprise logs addresses.
    logging.disable(logging.CRITICAL)
    failed = _send_all(message)
    sys.stdout.write(msgspec.json.encode(failed).decode())
    return 1 if failed else 0


def _send_all(message: Message) -> list[str]:
    try:
        import apprise  # noqa: F401 - looked for once, here
    except ImportError:
        return [MISSING]
    with ThreadPoolExecutor(max(1, len(message.urls))) as pool:
        return [failure for failure in pool.map(partial(_send, message), message.urls) if failure]


def _send(message: Message, url: str) -> str:
    """Why that service did not take it; empty where it did."""
    from apprise import Apprise

    service = Apprise()
    if not service.add(url):
        return f"{named(url)}: not an address that Apprise knows"
    taken = service.notify(title=message.title, body=message.body)
    return "" if taken else f"{named(url)}: not taken"


if __name__ == "__main__":
    sys.exit(main())
