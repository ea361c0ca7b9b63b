"""Models behind Anthropic's Messages API."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

import anthropic
import httpx2

from agent.errors import ModelUnavailable
from agent.models import failures
from agent.models.anthropic_reply import AnthropicReply
from agent.models.anthropic_request import request_body
from agent.models.base import Message, OnDelta, Reply, ToolSpec
from agent.models.estimate import estimated_usage
from agent.models.prices import cost_usd
from agent.record.values import Usage

KEY_VARIABLE = "ANTHROPIC_API_KEY"
TOKEN_VARIABLE = "ANTHROPIC_AUTH_TOKEN"
OWN_URL = "https://api.anthropic.com"
NO_KEY = "none"


class AnthropicModel:
    """One model of Anthropic, or of a server that speaks its protocol.

    A key is asked for only where no base URL is given: most local servers want none.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        environment: Mapping[str, str] = os.environ,
        http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        base_url = base_url or environment.get("ANTHROPIC_BASE_URL")
        api_key = api_key or environment.get(KEY_VARIABLE)
        token = None if api_key else environment.get(TOKEN_VARIABLE)
        if not api_key and not token:
            if not base_url:
                raise ModelUnavailable("there is no key for Anthropic", hint=f"export {KEY_VARIABLE}=…")
            api_key = NO_KEY
        self._model = model
        # The SDK adds the version itself, and other protocols' addresses have it.
        self._url = (base_url or OWN_URL).rstrip("/").removesuffix("/v1")
        self._server = failures.Server("Anthropic", KEY_VARIABLE, base_url or "")
        self._client = anthropic.AsyncAnthropic(
            api_key=api_key,
            auth_token=token,
            base_url=self._url,
            max_retries=0,
            timeout=failures.TIMEOUT,
            http_client=http_client,
        )

    @property
    def name(self) -> str:
        """`anthropic:NAME`."""
        return f"anthropic:{self._model}"

    async def ask(self, messages: Sequence[Message], tools: Sequence[ToolSpec], on_delta: OnDelta) -> Reply:
        """One reply, streamed."""
        reading = AnthropicReply(messages, on_delta)
        began = False
        try:
            # Plain objects and not the SDK's models: what compatible servers send is read strictly, and by us.
            stream = await self._client.post(
                "/v1/messages",
                cast_to=object,
                body=request_body(self._model, messages, tools),
                stream=True,
                stream_cls=anthropic.AsyncStream[object],
            )
            async with stream:
                async for event in stream:
                    began = True
                    reading.take(event)
        except anthropic.APIStatusError as error:
            # An error in the middle of a stream has the status 200 of its beginning.
            headers = error.response.headers
            complaint = failures.read_complaint(error.status_code, error.body, headers)
            raise failures.from_complaint(self._server, complaint) from error
        except anthropic.APIConnectionError as error:
            raise failures.from_connection(self._server, error.__cause__, began=began) from error
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise failures.from_connection(self._server, error, began=began) from error
        except failures.GARBAGE as error:
            raise failures.from_garbage(self._server, error) from error
        if not reading.complete:
            raise failures.cut_short(self._server)
        reply = reading.reply()
        return reply if reading.counted else replace(reply, usage=estimated_usage(messages, tools, reply))

    def cost_usd(self, usage: Usage) -> float | None:
        """What one reply costs; None where the server has no known prices."""
        return cost_usd(usage, self._model, self._url)

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.close()
