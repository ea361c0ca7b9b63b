"""The root of every error a person may see, and the errors of the task floor.

MlrbError                    message, hint, exit code
├── UsageError (2)           a mistake in what was typed or written
│   └── TaskInvalid (2)      a task folder that does not hold together
├── SandboxError (3)         agent.errors
├── ModelError (4)           agent.errors
├── RecordError (5)          agent.errors
├── RunError (6)             agent.errors
└── ScoreError (7)           evaluation.errors
"""

from typing import ClassVar


class MlrbError(Exception):
    """Something went wrong that a person can be told in one line, with a next step."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(MlrbError):
    """A mistake in what was typed or written."""

    exit_code = 2


class TaskInvalid(UsageError):
    """A task folder that does not hold together; the message lists all that is wrong."""
