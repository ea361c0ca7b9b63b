"""Plays a recording: how fast, and where its clock stands."""

SPEEDS = (1, 2, 4, 8, 16, 60, 600)
_LONG_WAIT_S = 3.0
_SHORT_WAIT_S = 0.3


class Player:
    """A clock that runs at some speed over the times of a log."""

    def __init__(self) -> None:
        self.playing = False
        self.at = 0.0
        """The moment it has reached, in the log's time."""
        self.skips_gaps = True
        """Long stretches in which nothing happened are cut short."""
        self._speed = 2

    @property
    def speed(self) -> int:
        """Seconds of the log in a second."""
        return SPEEDS[self._speed]

    def start(self, at: float) -> None:
        """Play on from a moment."""
        self.playing, self.at = True, at

    def stop(self) -> None:
        """Stand still."""
        self.playing = False

    def change_speed(self, by: int) -> None:
        """Faster or slower, within what there is."""
        self._speed = max(0, min(len(SPEEDS) - 1, self._speed + by))

    def advance(self, seconds: float, next_at: float | None) -> float:
        """Let real time pass; `next_at` is when the next event happens. Returns the moment reached."""
        self.at += seconds * self.speed
        if self.skips_gaps and next_at is not None and next_at - self.at > _LONG_WAIT_S * self.speed:
            self.at = next_at - _SHORT_WAIT_S * self.speed
        return self.at
