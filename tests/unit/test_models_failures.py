"""Each refusal becomes the error that says what to do about it."""

import email.utils
import time

import httpx2
import pytest

from agent.errors import ContextOverflow, ModelBusy, ModelError, ModelUnavailable, ReplyMalformed
from tests.unit.models_wire import Wire, refusal, stream

PROVIDERS = ["openai", "anthropic"]


async def failure(wire: Wire, provider: str, base_url: str | None = None) -> ModelError:
    model = wire.openai("m", base_url) if provider == "openai" else wire.anthropic("m", base_url)
    with pytest.raises(ModelError) as caught:
        await wire.ask(model)
    return caught.value


def complaint(message: str, kind: str = "invalid_request_error", code: object = None) -> dict[str, object]:
    return {"error": {"type": kind, "message": message, "code": code}}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, complaint("invalid x-api-key", "authentication_error"), ModelUnavailable),
        (403, complaint("not allowed", "permission_error"), ModelUnavailable),
        (404, complaint("model: m", "not_found_error"), ModelUnavailable),
        (400, complaint("tools.0.name: bad"), ModelUnavailable),
        (400, complaint("Your credit balance is too low to access the API"), ModelUnavailable),
        (429, complaint("slow down", "rate_limit_error"), ModelBusy),
        (429, complaint("You exceeded your current quota", "insufficient_quota"), ModelUnavailable),
        (408, complaint("timeout"), ModelBusy),
        (500, complaint("oops", "api_error"), ModelBusy),
        (503, complaint("Loading model", "unavailable_error", 503), ModelBusy),
        (529, complaint("Overloaded", "overloaded_error"), ModelBusy),
        (502, "<html>Bad Gateway</html>", ModelBusy),
    ],
)
async def test_status_says_whether_to_ask_again(
    provider: str, status: int, body: object, error: type[ModelError]
) -> None:
    assert type(await failure(Wire(refusal(status, body)), provider)) is error


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, complaint("prompt is too long: 210000 tokens > 200000 maximum")),
        (400, complaint("input length and `max_tokens` exceed context limit: 174167 + 64000 > 200000")),
        (413, complaint("Request exceeds the maximum size", "request_too_large")),
        (400, complaint("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens")),
        (400, complaint("Your input is too big.", code="context_length_exceeded")),
        (400, complaint("request (40022 tokens) exceeds the available context size", "exceed_context_size_error")),
        (500, complaint("Context size has been exceeded.", "server_error")),
        (400, {"object": "error", "message": "maximum context length is 2048 tokens", "type": "BadRequestError"}),
        (429, complaint("Request too large for gpt-4o on tokens per min (TPM): Limit 30000", "tokens")),
    ],
)
async def test_conversation_that_no_longer_fits_is_told_apart(provider: str, status: int, body: object) -> None:
    assert type(await failure(Wire(refusal(status, body)), provider)) is ContextOverflow


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
async def test_retry_after_in_all_its_forms(provider: str, headers: dict[str, str], seconds: float | None) -> None:
    error = await failure(Wire(refusal(429, complaint("slow down"), headers)), provider)
    assert isinstance(error, ModelBusy)
    assert error.retry_after_s == seconds


async def test_retry_after_as_a_date_to_come() -> None:
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    error = await failure(Wire(refusal(503, complaint("busy"), {"retry-after": date})), "openai")
    assert isinstance(error, ModelBusy)
    assert error.retry_after_s == pytest.approx(100, abs=30)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (httpx2.ConnectError("refused"), ModelBusy),
        (httpx2.ConnectTimeout("slow"), ModelBusy),
        (httpx2.ReadTimeout("silent"), ModelBusy),
        (httpx2.RemoteProtocolError("server disconnected"), ModelBusy),
        (httpx2.UnsupportedProtocol("missing http://"), ModelUnavailable),
        (httpx2.DecodingError("not gzip"), ReplyMalformed),
    ],
)
async def test_connection_that_fails_before_a_reply(provider: str, raised: Exception, error: type[ModelError]) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        raise raised

    assert type(await failure(Wire(answer), provider)) is error


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "body", ["data: {not json\n\n", "event: message_start\ndata: {\n\n", "event: x\ndata: " + "[" * 100_000 + "\n\n"]
)
async def test_stream_that_is_no_json_is_malformed(provider: str, body: str) -> None:
    assert type(await failure(Wire(stream(body)), provider)) is ReplyMalformed


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_bytes_that_are_no_text_are_malformed(provider: str) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(
            200, headers={"content-type": "text/event-stream"}, content=b"event: x\ndata: \xff\xfe\n\n"
        )

    assert type(await failure(Wire(answer), provider)) is ReplyMalformed


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_web_page_in_place_of_a_reply_hints_at_the_address(provider: str) -> None:
    error = await failure(Wire(stream("<html>Welcome</html>")), provider, "http://127.0.0.1:9")
    assert type(error) is ReplyMalformed
    assert "/v1" in error.hint


@pytest.mark.parametrize(("provider", "variable"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")])
async def test_refused_key_names_its_variable_and_never_the_key(provider: str, variable: str) -> None:
    error = await failure(Wire(refusal(401, complaint("invalid key"))), provider)
    assert variable in error.hint
    assert "sk-test" not in error.message + error.hint


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_what_a_server_says_cannot_steer_a_terminal(provider: str) -> None:
    said = "\x1b[2J\x1b]0;owned\x07bad\nnews" + "!" * 5_000
    error = await failure(Wire(refusal(400, complaint(said))), provider)
    assert "bad news" in error.message
    assert "\x1b" not in error.message
    assert len(error.message) < 500


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_password_in_an_address_is_not_told(provider: str) -> None:
    error = await failure(Wire(refusal(400, complaint("no"))), provider, "http://me:hunter2@127.0.0.1:9/v1")
    assert "127.0.0.1:9" in error.message
    assert "hunter2" not in error.message + error.hint


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("body", ['"text"', "[1]", "7", "null", "{}", '{"error": null}', '{"error": [1]}', ""])
async def test_complaint_of_any_shape_is_read(provider: str, body: str) -> None:
    assert type(await failure(Wire(refusal(400, body)), provider)) is ModelUnavailable
