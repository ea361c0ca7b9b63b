"""Why a script of the subset is not valid.

LeanError
├── ParseFailed       it is no script of the subset
├── TypesClash        it is one, and its types do not fit
├── TacticFailed      a tactic does not do what it is asked for
└── BudgetSpent       it takes more steps than a script is given
"""


class LeanError(Exception):
    """A script is not valid, for a reason that the message says in one line."""


class ParseFailed(LeanError):
    """It is no script of the subset."""


class TypesClash(LeanError):
    """Its types do not fit."""


class TacticFailed(LeanError):
    """A tactic does not do what it is asked for."""


class BudgetSpent(LeanError):
    """It takes more steps than a script is given."""


class Budget:
    """Steps of work that one script may still take."""

    def __init__(self, steps: int = 100_000) -> None:
        self.left = steps

    def spend(self, steps: int = 1) -> None:
        """Take so many; `BudgetSpent` when there are none left."""
        self.left -= steps
        if self.left < 0:
            raise BudgetSpent("it takes too long")
