"""GitHub and paper tools against a server that speaks their APIs; what must not leak, and what must not be followed."""

from collections.abc import Iterator

import pytest

from agent.record.research_settings import ResearchSettings
from agent.tools.base import Tool
from agent.tools.research.answers import NotFound
from agent.tools.research.github import full_name
from agent.tools.research.offered import research_tools
from tests.process.mlrb_scripts import line, of_worker, plan, returns, step
from tests.process.research_servers import research_server
from tests.process.runner_runs import Runs
from tests.unit.tool_bench import WORKDIR, Bench

PAPER = "a" * 40


class Desk:
    """The tools over a server, and a way to use them."""

    def __init__(self, address: str, asked: list[str]) -> None:
        self.asked = asked
        places = ResearchSettings(github=address, papers=address, arxiv=address)
        self.tools: dict[str, Tool] = {tool.spec.name: tool for tool in research_tools(places)}
        self.bench = Bench()

    async def use(self, name: str, **arguments: object) -> tuple[bool, str]:
        """Whether it went well, and what it said."""
        result = await self.tools[name].run(self.bench, arguments)
        return not result.failed, result.observation


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    with research_server() as (address, asked):
        yield Desk(address, asked)


async def test_repository_is_read_from_its_readme_to_a_file(desk: Desk) -> None:
    assert await desk.use("github_readme", repo="https://github.com/some/repo.git") == (True, "# Some repo\n")
    assert await desk.use("github_files", repo="some/repo") == (True, "train.py\nsrc/model.py")
    assert await desk.use("github_file", repo="some/repo", path="/train.py") == (True, "print('hi')\n")


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("github_readme", {"repo": "no/such"}, "no public repository no/such"),
        ("github_readme", {"repo": "http://localhost:22/"}, "names no repository"),
        ("github_readme", {"repo": "../../user"}, "names no repository"),
        ("github_file", {"repo": "some/repo", "path": "none.py"}, "has no file none.py"),
        ("github_file", {"repo": "some/repo", "path": "big.bin"}, "too long"),
        ("github_files", {"repo": "busy/repo"}, "too many requests"),
        ("paper_details", {"paper_id": "b" * 40}, "no such paper"),
        ("paper_details", {"paper_id": "../../../etc"}, "no paper's id"),
        ("read_paper", {"arxiv_id": "file:///etc/passwd"}, "no arXiv id"),
        ("read_paper", {"arxiv_id": "2410.99999"}, "no PDF"),
        ("read_paper", {"arxiv_id": "2410.00001"}, "sends elsewhere"),
        ("read_paper", {"arxiv_id": "2410.00002"}, "could not be read as text"),
        ("read_paper", {"arxiv_id": "2410.00003"}, "is no PDF"),
        ("read_paper", {"arxiv_id": "2410.22553", "page": 50}, "only 9 pages"),
    ],
)  # fmt: skip
async def test_what_cannot_be_had_is_told_in_words(
    desk: Desk, tool: str, arguments: dict[str, object], said: str
) -> None:
    well, told = await desk.use(tool, **arguments)
    assert not well
    assert said in told


async def test_private_repository_is_not_for_the_agent_whatever_the_token_may_see(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp-of-the-operator")
    for tool, more in (("github_readme", {}), ("github_files", {}), ("github_file", {"path": "train.py"})):
        well, told = await desk.use(tool, repo="secret/repo", **more)
        assert (well, told) == (False, "there is no public repository secret/repo")
    assert desk.asked == ["/repos/secret/repo"] * 3


async def test_papers_are_found_described_and_read(desk: Desk) -> None:
    well, found = await desk.use("search_papers", query="pruning")
    assert well
    assert "\x1b" not in found
    assert f"[{PAPER}; ArXiv 2410.22553; DOI 10.1/x]" in found
    assert await desk.use("search_papers", query="zebras") == (True, "no paper was found")
    well, whole = await desk.use("paper_details", paper_id=PAPER)
    assert "by Ada L.; cited 3 times" in whole
    assert (await desk.use("paper_citations", paper_id=PAPER))[1].startswith("Cites it (2024)")
    well, text = await desk.use("read_paper", arxiv_id="arXiv:2410.22553", page=8)
    assert well
    assert text.startswith("[pages 8 to 9 of 9]\npage 8 of the paper")
    assert "page 7" not in text


async def test_download_lies_in_the_work_folder(desk: Desk) -> None:
    well, said = await desk.use("download_paper", arxiv_id="2410.22553v2")
    assert well
    assert said.startswith("papers/2410.22553v2.pdf: ")
    assert desk.bench.sandbox.held[f"{WORKDIR}/papers/2410.22553v2.pdf"].startswith(b"%PDF")


async def test_every_research_tool_asks_in_approve_mode(desk: Desk) -> None:
    assert len(desk.tools) == 8
    assert all(tool.asks for tool in desk.tools.values())


@pytest.mark.parametrize("repo", ["a/b", "https://github.com/a/b", "https://github.com/a/b.git", "a/b/"])
def test_repository_is_named_in_any_usual_way(repo: str) -> None:
    assert full_name(repo) == "a/b"


@pytest.mark.parametrize("repo", ["", "a", "a/b/c", "a/..", "-a/b", "a b/c", "https://x/y/z/w"])
def test_what_names_no_repository_is_refused(repo: str) -> None:
    with pytest.raises(NotFound):
        full_name(repo)


def test_workers_without_network_have_no_research_tools(runs: Runs) -> None:
    script = [plan(step("look")), line(1, "github_readme", repo="a/b"), returns(1)]
    run = runs.start(script, scaffold="mlrb")
    assert run.ended().outcome == "submitted"
    from agent.record import events as ev

    refused = of_worker(run, 1, ev.ToolFinished)[0]
    assert refused.refused
    assert "there is no tool 'github_readme'" in run.text(refused.observation)
