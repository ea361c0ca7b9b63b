"""Which research tools there are: those whose libraries are installed (`pip install 'mlrb[research]'`)."""

from importlib.util import find_spec

from agent.record.research_settings import ResearchSettings
from agent.tools.base import Tool


def research_tools(places: ResearchSettings) -> tuple[Tool, ...]:
    """The tools, over the servers at those addresses. The libraries are imported when a tool is first used."""
    found: tuple[Tool, ...] = ()
    if find_spec("github") is not None:
        from agent.tools.research.github import github_tools

        found += github_tools(places.github)
    if find_spec("semanticscholar") is not None and find_spec("pypdf") is not None:
        from agent.tools.research.papers import paper_tools

        found += paper_tools(places)
    return found
