"""A model's name leads to the model, and a mistake in it to a next step."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import ModelUnavailable
from agent.models.choose import open_model
from tasks.errors import UsageError

LINE = '{"text": "hi"}\n'


@pytest.mark.parametrize(
    "name", ["", "gpt-5", "openai", "openai:", "anthropic:", "gemini:pro", ":x", "OPENAI:gpt-5", "[/bold]:x"]
)
def test_name_that_cannot_be_meant_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError, match="no such model") as caught:
        open_model(name, environment={})
    assert "anthropic:NAME" in caught.value.hint


@pytest.mark.parametrize("base_url", ["127.0.0.1:8080", "file:///etc/passwd", "localhost"])
def test_address_that_is_none_is_a_usage_error(base_url: str) -> None:
    with pytest.raises(UsageError, match="not the address"):
        open_model("openai:smol", base_url=base_url, environment={})


@pytest.mark.parametrize(
    ("name", "variable"), [("openai:gpt-5", "OPENAI_API_KEY"), ("anthropic:claude-opus-4-5", "ANTHROPIC_API_KEY")]
)
async def test_missing_key_is_named_and_present_key_is_used(name: str, variable: str) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        open_model(name, environment={})
    assert variable in caught.value.hint
    model = open_model(name, environment={variable: "sk-test"})
    assert model.name == name
    await model.close()


@pytest.mark.parametrize("name", ["openai:smol", "anthropic:smol"])
async def test_local_server_needs_no_key(name: str) -> None:
    model = open_model(name, base_url="http://127.0.0.1:9/v1", environment={})
    assert model.name == name
    await model.close()


def test_script_by_name_and_the_tasks_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(LINE, encoding="utf-8")
    assert open_model("scripted", script=path).name == "scripted"
    assert open_model(f"scripted:{path}").name == "scripted:mine.jsonl"


def test_task_without_a_script_says_so() -> None:
    with pytest.raises(ModelUnavailable, match="no script"):
        open_model("scripted")


def test_scripted_run_imports_no_sdk(tmp_path: Path) -> None:
    path = tmp_path / "baseline.jsonl"
    path.write_text(LINE, encoding="utf-8")
    program = (
        "import sys; from pathlib import Path; from agent.models.choose import open_model\n"
        "model = open_model('scripted', script=Path(sys.argv[1]))\n"
        "heavy = {'anthropic', 'openai', 'httpx2', 'pydantic', 'genai_prices'}\n"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == ""
