"""Docker tests run where a daemon answers and the image is there, and say so where not."""

from pathlib import Path

import pytest

from agent.sandbox.choose import docker_answers
from agent.sandbox.engine import DEFAULT_IMAGE, image_is_there

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all that lies in this folder, and skip it where there is no Docker."""
    mine = [item for item in items if _HERE in item.path.parents]
    if not mine:
        return
    why = ""
    if not docker_answers():
        why = "no Docker daemon answers: see .ci/docker"
    elif not image_is_there(DEFAULT_IMAGE):
        why = f"there is no image {DEFAULT_IMAGE}: run .ci/docker or `mlrb image build`"
    for item in mine:
        item.add_marker(pytest.mark.docker)
        if why:
            item.add_marker(pytest.mark.skip(reason=why))
