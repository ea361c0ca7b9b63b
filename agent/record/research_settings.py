"""Where GitHub and papers are asked for: the `[research]` table of the settings, and of `run.toml` for one run."""

from typing import Annotated

from msgspec import Meta, Struct

_Url = Annotated[str, Meta(pattern=r"^https?://[^\s/]+(/\S*)?$")]


class ResearchSettings(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Addresses of the servers; a mirror may stand in the place of each."""

    github: Annotated[_Url, Meta(description="GitHub's API, or that of a GitHub of one's own")] = (
        "https://api.github.com"
    )
    papers: Annotated[_Url, Meta(description="the API of Semantic Scholar")] = "https://api.semanticscholar.org"
    arxiv: Annotated[_Url, Meta(description="arXiv, or a mirror of its PDF files")] = "https://arxiv.org"
