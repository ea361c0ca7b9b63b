"""The errors of the agent floor; a class exists where a caller decides differently.

SandboxError (3)
├── SandboxUnavailable       nothing can be started there
├── SandboxUnreachable       what it runs on has not answered for long: it may be there, and be taken up later
└── SandboxLost              it was there and is gone, or answers no more
ModelError (4)
├── ModelUnavailable         no key, no such model, no server: asking again does not help
├── ModelBusy                rate limit or server trouble: asking again later helps
├── ContextOverflow          the conversation no longer fits
└── ReplyMalformed           the reply could not be read as the protocol says
RecordError (5)
├── RunNotFound              no run of that name, or more than one
└── RunHeld                  another runner holds the lock
RunError (6)
├── LaunchFailed             the runner ended before its first event
├── RunOver                  the run has ended, so nobody reads what is asked of it
├── ControlHeld              somebody else steers the run
├── SubmissionTooLarge       what was to be graded is more than the task takes
└── NoRoom                   the disk was full for too long
"""

from tasks.errors import MlrbError


class SandboxError(MlrbError):
    """A sandbox that cannot run commands; never shown to a model as output."""

    exit_code = 3


class SandboxUnavailable(SandboxError):
    """Nothing can be started there."""


class SandboxUnreachable(SandboxError):
    """What it runs on has not answered for long: it may still be there, and be taken up later."""


class SandboxLost(SandboxError):
    """It was there and is gone, or answers no more."""


class ModelError(MlrbError):
    """A model that did not answer."""

    exit_code = 4


class ModelUnavailable(ModelError):
    """No key, no such model, no server: asking again does not help."""


class ModelBusy(ModelError):
    """Rate limit or server trouble: asking again later helps."""

    def __init__(self, message: str, *, retry_after_s: float | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class ContextOverflow(ModelError):
    """The conversation no longer fits the model's context."""


class ReplyMalformed(ModelError):
    """The reply could not be read as the protocol says."""


class RecordError(MlrbError):
    """The record of a run cannot be read or written."""

    exit_code = 5


class RunNotFound(RecordError):
    """No run of that name, or more than one."""


class RunHeld(RecordError):
    """Another runner holds the lock of this run."""


class RunError(MlrbError):
    """A run that could not do what was asked."""

    exit_code = 6


class LaunchFailed(RunError):
    """The runner ended before its first event."""


class RunOver(RunError):
    """The run has ended, so nobody reads what is asked of it."""


class ControlHeld(RunError):
    """Somebody else steers the run."""


class SubmissionTooLarge(RunError):
    """What was to be graded is more than the task takes."""


class NoRoom(RunError):
    """The disk was full for too long."""
