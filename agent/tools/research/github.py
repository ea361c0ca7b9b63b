"""GitHub: a repository's README, its files, one of them. Private repositories are refused, whoever's token it is."""

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent.tools import arguments as given
from agent.tools.base import Tool, ToolContext
from agent.tools.research.answers import TIMEOUT_S, NotFound, in_thread, research_tool
from agent.tools.schema import string

if TYPE_CHECKING:
    from github.Repository import Repository

LONGEST_FILE_BYTES = 1024**2
MOST_FILES = 1_000
_NAME = re.compile(r"(?:https?://[^/\s]+/)?([A-Za-z0-9][A-Za-z0-9-]{0,38})/([A-Za-z0-9._-]{1,100}?)(?:\.git)?/?")


def github_tools(base_url: str) -> tuple[Tool, ...]:
    """The three tools, over the API at that address."""

    async def readme(context: ToolContext, arguments: Mapping[str, object]) -> str:
        return await in_thread(lambda: _readme(_repository(base_url, given.text(arguments, "repo"))))

    async def files(context: ToolContext, arguments: Mapping[str, object]) -> str:
        return await in_thread(lambda: _files(_repository(base_url, given.text(arguments, "repo"))))

    async def file(context: ToolContext, arguments: Mapping[str, object]) -> str:
        path = given.text(arguments, "path")
        return await in_thread(lambda: _file(_repository(base_url, given.text(arguments, "repo")), path))

    repo = string("owner/name, or its address")
    one = {"repo": repo}
    both = {**one, "path": string("the file's path in the repository")}
    return (
        research_tool("github_readme", "Read the README of a public GitHub repository.", one, ("repo",), readme),
        research_tool("github_files", "List all files of a public GitHub repository.", one, ("repo",), files),
        research_tool("github_file", "Read one file of a public GitHub repository.", both, ("repo", "path"), file),
    )


def full_name(repo: str) -> str:
    """`owner/name` out of how a model writes it; raises `NotFound` for what names no repository."""
    found = _NAME.fullmatch(repo.strip())
    if found is None or found[2] in (".", ".."):
        raise NotFound(f"{repo[:100]!r} names no repository; write owner/name")
    return f"{found[1]}/{found[2]}"


def _repository(base_url: str, repo: str) -> "Repository":
    import github
    import requests

    token = os.environ.get("GITHUB_TOKEN", "")
    auth = github.Auth.Token(token) if token else None
    client = github.Github(auth=auth, base_url=base_url, timeout=TIMEOUT_S, retry=1)
    name = full_name(repo)
    try:
        found = client.get_repo(name)
        # The token is the operator's: what only they may see is not for the agent.
        if found.private:
            raise NotFound(f"there is no public repository {name}")
    except github.UnknownObjectException as error:
        raise NotFound(f"there is no public repository {name}") from error
    except (github.GithubException, requests.RequestException) as error:
        raise NotFound(_said(error)) from error
    return found


def _readme(repository: "Repository") -> str:
    import github

    try:
        return _decoded(repository.get_readme().decoded_content)
    except github.UnknownObjectException as error:
        raise NotFound(f"{repository.full_name} has no README") from error
    except github.GithubException as error:
        raise NotFound(_said(error)) from error


def _files(repository: "Repository") -> str:
    import github

    try:
        tree = repository.get_git_tree(repository.default_branch, recursive=True)
    except github.GithubException as error:
        raise NotFound(_said(error)) from error
    paths = [entry.path for entry in tree.tree if entry.type == "blob"]
    more = f"\n… {len(paths) - MOST_FILES} more" if len(paths) > MOST_FILES else ""
    return "\n".join(paths[:MOST_FILES]) + more or "it has no files"


def _file(repository: "Repository", path: str) -> str:
    import github

    try:
        found = repository.get_contents(path.strip().strip("/"))
        if isinstance(found, list):
            return "a folder:\n" + "\n".join(f"{entry.path}{'/' if entry.type == 'dir' else ''}" for entry in found)
        if found.size > LONGEST_FILE_BYTES or found.encoding != "base64":
            raise NotFound(f"{path} is too long to be read here: {found.size:,} bytes")
        return _decoded(found.decoded_content)
    except github.UnknownObjectException as error:
        raise NotFound(f"{repository.full_name} has no file {path[:200]}") from error
    except github.GithubException as error:
        raise NotFound(_said(error)) from error


def _decoded(raw: bytes) -> str:
    if b"\0" in raw[:8_000]:
        raise NotFound("it is no text")
    return raw.decode("utf-8", "replace")


def _said(error: Exception) -> str:
    status = getattr(error, "status", None)
    if status in (403, 429):
        return "GitHub refuses for now: too many requests without a token (GITHUB_TOKEN), or of its owner"
    return f"GitHub did not answer as expected ({status or type(error).__name__})"
