"""Models behind OpenAI's chat completions: OpenAI's own, vLLM, llama.cpp, Ollama and all that speak it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

import httpx2
import openai

from agent.errors import ModelUnavailable
from agent.models import failures
from agent.models.base import Message, OnDelta, Reply, ToolSpec
from agent.models.estimate import estimated_usage
from agent.models.openai_reply import OpenAIReply
from agent.models.openai_request import request_body
from agent.models.prices import cost_usd
from agent.record.values import Usage

KEY_VARIABLE = "OPENAI_API_KEY"
OWN_URL = "https://api.openai.com/v1"
NO_KEY = "none"


class OpenAIModel:
    """One model of a server that speaks OpenAI's chat completions.

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
        base_url = base_url or environment.get("OPENAI_BASE_URL")
        api_key = api_key or environment.get(KEY_VARIABLE) or (NO_KEY if base_url else None)
        if api_key is None:
            raise ModelUnavailable("there is no key for OpenAI", hint=f"export {KEY_VARIABLE}=…")
        self._model = model
        self._url = base_url or OWN_URL
        self._server = failures.Server("OpenAI", KEY_VARIABLE, base_url or "")
        self._client = openai.AsyncOpenAI(
            api_key=api_key,
            base_url=self._url,
            max_retries=0,
            timeout=failures.TIMEOUT,
            http_client=http_client,
        )

    @property
    def name(self) -> str:
        """`openai:NAME`."""
        return f"openai:{self._model}"

    async def ask(self, messages: Sequence[Message], tools: Sequence[ToolSpec], on_delta: OnDelta) -> Reply:
        """One reply, streamed."""
        reading = OpenAIReply(messages, on_delta)
        began = False
        try:
            # Plain objects and not the SDK's models: what compatible servers send is read strictly, and by us.
            stream = await self._client.post(
                "/chat/completions",
                cast_to=object,
                body=request_body(self._model, messages, tools),
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
            async with stream:
                async for chunk in stream:
                    began = True
                    reading.take(chunk)
        except openai.APIStatusError as error:
            complaint = failures.read_complaint(error.status_code, error.body, error.response.headers)
            raise failures.from_complaint(self._server, complaint) from error
        except openai.APIConnectionError as error:
            raise failures.from_connection(self._server, error.__cause__, began=began) from error
        except openai.APIError as error:
            complaint = failures.read_complaint(0, error.body or error.message, {})
            raise failures.from_complaint(self._server, complaint) from error
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise failures.from_connection(self._server, error, began=began) from error
        except failures.GARBAGE as error:
            raise failures.from_garbage(self._server, error) from error
        return self._finished(reading, messages, tools)

    def _finished(self, reading: OpenAIReply, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        if reading.error is not None:
            raise failures.from_complaint(self._server, failures.read_complaint(0, reading.error, {}))
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
