"""Papers: searched and described by Semantic Scholar, their PDF files from arXiv, read as text page by page."""

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from agent.record.research_settings import ResearchSettings
from agent.record.text import clip, one_line
from agent.tools import arguments as given
from agent.tools.base import Tool, ToolContext
from agent.tools.research.answers import TIMEOUT_S, NotFound, in_thread, research_tool
from agent.tools.research.pdf import text_of
from agent.tools.schema import string, whole

if TYPE_CHECKING:
    from requests import Response

MOST_FOUND = 10
LONGEST_PDF_BYTES = 40 * 1024**2
PAGES_AT_ONCE = 6
_MOST_REDIRECTS = 4
_FIELDS = ["title", "year", "abstract", "authors.name", "externalIds", "citationCount", "venue"]
_PAPER_ID = re.compile(r"[A-Za-z]{0,12}:?[A-Za-z0-9./_-]{3,80}")
_ARXIV_ID = re.compile(r"(?:arxiv:)?((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,2})?)", re.IGNORECASE)


def paper_tools(places: ResearchSettings) -> tuple[Tool, ...]:
    """The tools, over the servers at those addresses."""

    async def search(context: ToolContext, arguments: Mapping[str, object]) -> str:
        query = given.text(arguments, "query")
        found = await _asked(places, lambda client: client.search_paper(query, fields=_FIELDS, limit=MOST_FOUND))
        papers = list(found.items)[:MOST_FOUND] if found is not None else []
        return "\n\n".join(_in_short(paper) for paper in papers) or "no paper was found"

    async def details(context: ToolContext, arguments: Mapping[str, object]) -> str:
        name = _paper_id(arguments)
        return _in_full(await _asked(places, lambda client: client.get_paper(name, fields=_FIELDS)))

    async def citations(context: ToolContext, arguments: Mapping[str, object]) -> str:
        name = _paper_id(arguments)
        fields = ["title", "year", "externalIds"]
        found = await _asked(places, lambda client: client.get_paper_citations(name, fields=fields, limit=50))
        papers = [citation.paper for citation in found.items][:50]
        return "\n".join(_line(paper) for paper in papers) or "nobody is known to cite it"

    async def download(context: ToolContext, arguments: Mapping[str, object]) -> str:
        name = _arxiv_id(arguments)
        raw = await in_thread(lambda: _pdf(places.arxiv, name))
        path = f"papers/{name.replace('/', '-')}.pdf"
        try:
            await context.sandbox.write_file(f"{context.workdir}/{path}", raw)
        except (OSError, ValueError) as error:
            raise NotFound(f"{path} cannot be written: {error}") from error
        return f"{path}: {len(raw):,} bytes"

    async def read(context: ToolContext, arguments: Mapping[str, object]) -> str:
        name, first = _arxiv_id(arguments), int(given.number(arguments, "page", 1))
        raw = await in_thread(lambda: _pdf(places.arxiv, name))
        text, pages = await text_of(raw, first, PAGES_AT_ONCE)
        last = min(pages, first + PAGES_AT_ONCE - 1)
        return f"[pages {first} to {last} of {pages}]\n{text}"

    paper_id = string("Semantic Scholar's id, or ARXIV:2410.22553, DOI:10.…")
    arxiv_id = string("the arXiv id: 2410.22553")
    page = whole(f"the first page to read, from 1; {PAGES_AT_ONCE} are read at once", 1)
    one, arxiv = ("paper_id",), ("arxiv_id",)
    pages = {"arxiv_id": arxiv_id, "page": page}
    return (
        research_tool("search_papers", f"Search papers; the {MOST_FOUND} best with their ids and abstracts.",
                      {"query": string("what to search for")}, ("query",), search),
        research_tool("paper_details", "A paper's title, year, authors and whole abstract.",
                      {"paper_id": paper_id}, one, details),
        research_tool("paper_citations", "Who cites a paper, 50 at most.", {"paper_id": paper_id}, one, citations),
        research_tool("download_paper", "Download a paper's PDF from arXiv into the folder papers/.",
                      {"arxiv_id": arxiv_id}, arxiv, download),
        research_tool("read_paper", "Read a paper on arXiv as text.", pages, arxiv, read),
    )  # fmt: skip


async def _asked(places: ResearchSettings, ask: Any) -> Any:
    """What Semantic Scholar answers; its troubles in words."""
    import httpx
    from semanticscholar import AsyncSemanticScholar, SemanticScholarException

    key = os.environ.get("SEMANTIC_SCHOLAR_API_KEY") or None
    client = AsyncSemanticScholar(timeout=TIMEOUT_S, api_key=key, api_url=places.papers, retry=False)
    try:
        return await ask(client)
    except SemanticScholarException.ObjectNotFoundException as error:
        raise NotFound("there is no such paper") from error
    except (SemanticScholarException.SemanticScholarException, PermissionError, ConnectionRefusedError) as error:
        raise NotFound("Semantic Scholar refuses for now: too many requests, or a wrong key") from error
    except (httpx.HTTPError, OSError, ValueError) as error:
        raise NotFound(f"Semantic Scholar did not answer as expected ({type(error).__name__})") from error


def _paper_id(arguments: Mapping[str, object]) -> str:
    name = given.text(arguments, "paper_id").strip()
    if not _PAPER_ID.fullmatch(name) or ".." in name:
        raise NotFound(f"{name[:100]!r} is no paper's id")
    return name


def _arxiv_id(arguments: Mapping[str, object]) -> str:
    name = given.text(arguments, "arxiv_id").strip()
    found = _ARXIV_ID.fullmatch(name)
    if found is None:
        raise NotFound(f"{name[:100]!r} is no arXiv id; write it like 2410.22553")
    return found[1]


def _pdf(arxiv: str, name: str) -> bytes:
    """The PDF, from that server and no other."""
    import requests

    try:
        with _opened(f"{arxiv.rstrip('/')}/pdf/{name}") as answer:
            if answer.status_code != requests.codes.ok:
                raise NotFound(f"arXiv has no PDF of {name} ({answer.status_code})")
            raw = bytearray()
            for piece in answer.iter_content(64 * 1024):
                raw += piece
                if len(raw) > LONGEST_PDF_BYTES:
                    raise NotFound(f"the PDF of {name} is longer than {LONGEST_PDF_BYTES:,} bytes")
    except requests.RequestException as error:
        raise NotFound(f"arXiv did not answer as expected ({type(error).__name__})") from error
    if not raw.startswith(b"%PDF"):
        raise NotFound(f"what arXiv gave for {name} is no PDF")
    return bytes(raw)


def _opened(address: str) -> "Response":
    """The answer to that address; sent elsewhere it is followed on the same server only."""
    import requests

    for _ in range(_MOST_REDIRECTS):
        answer = requests.get(address, timeout=TIMEOUT_S, stream=True, allow_redirects=False)
        goes_to = answer.headers.get("Location", "") if answer.is_redirect else ""
        if not goes_to:
            return answer
        answer.close()
        following = urljoin(address, goes_to)
        if urlsplit(following)[:2] != urlsplit(address)[:2]:
            raise NotFound("arXiv sends elsewhere for it")
        address = following
    raise NotFound("arXiv sends from place to place for it")


def _in_short(paper: Any) -> str:
    return f"{_line(paper)}\n{clip(one_line(str(paper.abstract or '(no abstract)'), 2_000), 700)}"


def _in_full(paper: Any) -> str:
    names = ", ".join(one_line(str(author.name), 80) for author in (paper.authors or ())[:30])
    return f"{_line(paper)}\nby {names or 'unknown'}; cited {paper.citationCount or 0} times\n\n{paper.abstract or ''}"


def _line(paper: Any) -> str:
    known = (paper.externalIds or {}).items()
    ids = [f"{name} {one_line(str(value), 60)}" for name, value in known if name in ("ArXiv", "DOI")]
    also = "; ".join(ids) or "no other id"
    return f"{one_line(str(paper.title), 300)} ({paper.year or 'no year'}) [{paper.paperId}; {also}]"
