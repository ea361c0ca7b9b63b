"""The errors of the evaluation floor.

ScoreError (7)
├── SubmissionMissing        the artefact is not there
└── GraderFailed             the grader itself broke; says nothing about the submission
"""

from tasks.errors import MlrbError


class ScoreError(MlrbError):
    """A submission that could not be scored."""

    exit_code = 7


class SubmissionMissing(ScoreError):
    """The artefact is not there."""


class GraderFailed(ScoreError):
    """The grader itself broke; says nothing about the submission."""
