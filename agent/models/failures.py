"""From what a server or a connection answers to the four errors that a caller can do something about."""

import email.utils
import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2
import msgspec

from agent.errors import ContextOverflow, ModelBusy, ModelError, ModelUnavailable, ReplyMalformed
from agent.record.text import one_line

TIMEOUT = httpx2.Timeout(120.0, connect=15.0)
"""Two minutes without a byte end a request; a long reply may take as long as it likes."""

GARBAGE = (json.JSONDecodeError, UnicodeDecodeError, RecursionError, msgspec.ValidationError)
"""What reading a stream raises where it isn't what the protocol says."""

_LONGEST_REASON = 300
_HINT_MONEY = "look at the account's credit and limits"

_OVERFLOW = re.compile(
    r"context[ _-]?(length|size|window|limit)|maximum context|exceeds?.{0,40}\bcontext"
    r"|prompt is too long|input is too long|input length and `?max_tokens|too many (input )?tokens"
    r"|request_too_large|reduce the length of the (messages|prompt|input)",
    re.IGNORECASE,
)
# A single request above a per-minute limit: no waiting makes it fit.
_NEVER_FITS = re.compile(r"request too large for|requested too many tokens", re.IGNORECASE)
_NO_MONEY = re.compile(r"insufficient_quota|billing|credit balance", re.IGNORECASE)

# An error inside a stream that began well comes without a status of its own.
_STATUS_OF_KIND = {
    "invalid_request_error": 400,
    "exceed_context_size_error": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}
_BUSY = frozenset({408, 409, 425, 429})


@dataclass(frozen=True)
class Server:
    """Who is asked, for what a person is told."""

    vendor: str
    key_variable: str
    base_url: str = ""
    """Only where it isn't the vendor's own."""

    @property
    def title(self) -> str:
        """As a person would call it; without the password that an address may carry."""
        if not self.base_url:
            return self.vendor
        parts = urlsplit(self.base_url)
        return f"the server at {parts.scheme}://{parts.netloc.rpartition('@')[2]}"


@dataclass(frozen=True)
class Complaint:
    """What a server says is wrong."""

    status: int
    kind: str
    """Its type and code, for programs."""
    text: str
    retry_after_s: float | None = None


def read_complaint(status: int, body: object, headers: Mapping[str, str]) -> Complaint:
    """The complaint in an error's body, whichever of the usual shapes that has."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(inner, dict):
        said = one_line(str(inner or ""), _LONGEST_REASON)
        return Complaint(status if status >= 400 else 500, "", said, _retry_after_s(headers))
    kind = " ".join(str(inner[name]) for name in ("type", "code") if inner.get(name))
    said = inner.get("message") or inner.get("detail") or kind
    if status < 400:
        status = _status_inside(inner)
    return Complaint(status, kind, one_line(str(said), _LONGEST_REASON), _retry_after_s(headers))


def _status_inside(inner: Mapping[str, object]) -> int:
    code = inner.get("code")
    if isinstance(code, int) and 400 <= code < 600:
        return code
    known = (_STATUS_OF_KIND.get(str(inner.get(name))) for name in ("type", "code"))
    return next((status for status in known if status), 500)


def from_complaint(server: Server, complaint: Complaint) -> ModelError:
    """The error for a server's complaint."""
    said = f"{complaint.kind} {complaint.text}"
    reason = f"{server.title} says {complaint.status}: {complaint.text or 'nothing more'}"
    if complaint.status == 429:
        return _rate_limited(reason, said, complaint)
    if complaint.status == 413 or _OVERFLOW.search(said):
        return ContextOverflow(reason, hint="the conversation no longer fits this model")
    if complaint.status in _BUSY or complaint.status >= 500:
        return ModelBusy(reason, retry_after_s=complaint.retry_after_s)
    return ModelUnavailable(reason, hint=_hint(server, complaint))


def _rate_limited(reason: str, said: str, complaint: Complaint) -> ModelError:
    if _NEVER_FITS.search(said):
        return ContextOverflow(reason, hint="one request is larger than the rate limit allows in a minute")
    if _NO_MONEY.search(said):
        return ModelUnavailable(reason, hint=_HINT_MONEY)
    return ModelBusy(reason, retry_after_s=complaint.retry_after_s)


def _hint(server: Server, complaint: Complaint) -> str:
    if complaint.status == 402 or _NO_MONEY.search(f"{complaint.kind} {complaint.text}"):
        return _HINT_MONEY
    match complaint.status:
        case 401 | 403:
            return f"look at the key in {server.key_variable}"
        case 404 if server.base_url:
            return "look at the model's name and at the address: --base-url mostly ends in /v1"
        case 404:
            return "look at the model's name"
        case _:
            return "the server does not accept the request as it is"


def from_connection(server: Server, error: BaseException | None, *, began: bool) -> ModelError:
    """The error for a connection that failed; `began` says that a part of the reply had come."""
    reason = one_line(f"{type(error).__name__}: {error}", _LONGEST_REASON) if error else "no connection"
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return ModelUnavailable(f"{server.title} cannot be asked: {reason}", hint="--base-url http://HOST:PORT/v1")
    if isinstance(error, httpx2.DecodingError | httpx2.TooManyRedirects):
        return ReplyMalformed(f"the reply of {server.title} cannot be read: {reason}")
    if isinstance(error, httpx2.TimeoutException):
        waited = f"for {TIMEOUT.read:.0f} s" if isinstance(error, httpx2.ReadTimeout) else "in time"
        return ModelBusy(f"{server.title} sent nothing {waited}")
    if began and isinstance(error, httpx2.ProtocolError | httpx2.NetworkError):
        return ReplyMalformed(f"{server.title} broke off in the middle of a reply: {reason}")
    hint = "is the server running, and is this its address?" if server.base_url else "is there a network?"
    return ModelBusy(f"{server.title} cannot be reached: {reason}", hint=hint)


def from_garbage(server: Server, error: Exception) -> ReplyMalformed:
    """The error for a reply that isn't what the protocol says."""
    return ReplyMalformed(f"the reply of {server.title} cannot be read: {one_line(str(error), _LONGEST_REASON)}")


def cut_short(server: Server) -> ReplyMalformed:
    """The error for a reply that ended before it said so."""
    hint = "--base-url mostly ends in /v1" if server.base_url else ""
    return ReplyMalformed(f"the reply of {server.title} ended before it was complete", hint=hint)


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000.0
    wish = headers.get("retry-after")
    seconds = _number(wish)
    return seconds if seconds is not None else _seconds_until(wish)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else math.nan
    except ValueError:
        return None
    return max(value, 0.0) if math.isfinite(value) else None


def _seconds_until(date: str | None) -> float | None:
    try:
        then = email.utils.parsedate_to_datetime(date).timestamp() if date else None
    except (ValueError, OverflowError):
        return None
    return None if then is None else max(then - time.time(), 0.0)
