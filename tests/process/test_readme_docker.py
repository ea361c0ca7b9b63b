"""The README's second half, typed as it stands: a run on Docker, grading again, checking tasks."""

from pathlib import Path

import pytest

from tests.process.readme_commands import FROM_DOCKER_ON, machine, type_all


@pytest.mark.slow
def test_every_command_from_docker_on_works(tmp_path: Path) -> None:
    with machine(tmp_path) as environment:
        assert type_all(FROM_DOCKER_ON, environment, tmp_path) >= 3
