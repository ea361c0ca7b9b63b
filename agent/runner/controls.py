"""What steers a run, put together from its first moment to its last."""

from dataclasses import dataclass

from agent.runner.approvals import Approvals
from agent.runner.ending import Ending
from agent.runner.gates import Gates
from agent.runner.grading import Grading
from agent.runner.injections import Injections
from agent.runner.journal import Journal
from agent.runner.pausing import Pausing
from agent.runner.steering import Steering


@dataclass(frozen=True)
class Controls:
    """What steers a run, there from its first moment to its last."""

    journal: Journal
    pausing: Pausing
    approvals: Approvals
    ending: Ending
    injections: Injections
    grading: Grading
    steering: Steering
    gates: Gates
