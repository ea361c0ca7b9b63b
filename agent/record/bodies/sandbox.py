"""The sandbox: started, lost, taken down with its proof."""

from agent.record.bodies.base import Body
from agent.record.values import Proof


class SandboxStarted(Body, frozen=True, kw_only=True, tag="sandbox_started"):
    """The sandbox answers; what it isolates is said here."""

    sandbox: str
    """`local`, `docker` or `docker@HOST`."""
    name: str
    """Container name, or process id of the local guest."""
    image: str = ""
    workdir: str = ""
    network: bool = False
    isolates: bool = True
    notice: str = ""
    guest: str = ""
    """Names what runs the commands inside; another one, as after a reboot, knows nothing of earlier commands."""


class SandboxLost(Body, frozen=True, kw_only=True, tag="sandbox_lost"):
    """The sandbox answers no more."""

    reason: str


class SandboxAway(Body, frozen=True, kw_only=True, tag="sandbox_away"):
    """What the sandbox runs on does not answer; the run waits for it, on nobody's time."""

    reason: str


class SandboxBack(Body, frozen=True, kw_only=True, tag="sandbox_back"):
    """It answers again."""

    away_s: float = 0.0
    restarted: bool = False
    """The sandbox had ended meanwhile and was started again: its files are kept, what ran in it is not."""


class SandboxStopped(Body, frozen=True, kw_only=True, tag="sandbox_stopped"):
    """The sandbox was taken down; what could be proven of it."""

    proofs: tuple[Proof, ...]


class ProofFound(Body, frozen=True, kw_only=True, tag="proof_found"):
    """One line of a kill's checklist, as it becomes true; a later one on the same thing takes its place."""

    what: str
    """`model calls`, `container`, `processes`, `gpu memory`."""
    proven: bool
    detail: str = ""
