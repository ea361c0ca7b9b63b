"""What most tests of real processes start from."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.runner_runs import Runs


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    """A home with the probe task; its runners are ended with the test."""
    made = Runs.under(tmp_path)
    yield made
    made.close()
