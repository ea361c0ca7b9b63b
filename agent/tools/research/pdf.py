"""A PDF's text, read in a process of its own: a file from elsewhere may take all time and memory it can get.

`python -m agent.tools.research.pdf FIRST COUNT` reads a PDF from stdin and prints the text of its pages as JSON.
"""

import asyncio
import io
import json
import resource
import sys
from pathlib import Path

from agent.tools.research.answers import NotFound

TIME_S = 40.0
_MEMORY_BYTES = 1024**3
_LONGEST = 100_000


async def text_of(raw: bytes, first: int, count: int) -> tuple[str, int]:
    """The text of so many pages from that one on, and how many there are; raises `NotFound` where it can't be read."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__, str(first), str(count)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        # None of the runner's own: a reader of foreign files needs no keys.
        env={"PYTHONPATH": str(Path(__file__).parents[3])},
    )
    try:
        async with asyncio.timeout(TIME_S):
            out, _ = await process.communicate(raw)
        found = json.loads(out)
        text, pages = str(found["text"]), int(found["pages"])
    except (TimeoutError, ValueError, KeyError, TypeError) as error:
        raise NotFound("the PDF could not be read as text") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if first > pages:
        raise NotFound(f"it has only {pages} pages")
    return text, pages


def main() -> None:
    """Read one file from stdin."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (int(TIME_S), int(TIME_S)))
    from pypdf import PdfReader

    first, count = int(sys.argv[1]), int(sys.argv[2])
    reader = PdfReader(io.BytesIO(sys.stdin.buffer.read()))
    pages = reader.pages[first - 1 : first - 1 + count]
    text = "\n\n".join(page.extract_text() for page in pages)
    json.dump({"text": text[:_LONGEST], "pages": len(reader.pages)}, sys.stdout)


if __name__ == "__main__":
    main()
