"""The ledger of a reading: what was left out, and what was wrong with what is bad."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from entlink.errors import SourceError
from entlink.io.files import Meter

MAX_MESSAGES = 100
OnError = Literal["stop", "skip"]


class Ledger:
    """Bad records stop the reading or are counted; what is left out on purpose is counted by reason."""

    def __init__(self, on_error: OnError = "stop") -> None:
        self.skipped = 0
        self.problems: list[str] = []
        self.left_out: Counter[str] = Counter()
        self.on_error: OnError = on_error

    def fail(self, error: SourceError) -> None:
        """Raise the error, or count it when bad records are to be skipped."""
        if self.on_error == "stop":
            raise error
        self.skip(error)

    def skip(self, error: SourceError) -> None:
        """Count a record that is left out whatever the caller chose, such as a page over its limit of time."""
        self.skipped += 1
        if len(self.problems) < MAX_MESSAGES:
            self.problems.append(str(error))

    def absorb(self, other: Ledger) -> None:
        """Add up what another ledger holds."""
        self.skipped += other.skipped
        self.problems += other.problems[: MAX_MESSAGES - len(self.problems)]
        self.left_out.update(other.left_out)

    def leave_out(self, reason: str, count: int = 1) -> None:
        """Count records that are left out on purpose."""
        self.left_out[reason] += count


class FileLedger(Ledger):
    """The ledger of reading files: how many bytes of them were consumed, how many records they gave."""

    def __init__(self, on_error: OnError = "stop") -> None:
        super().__init__(on_error)
        self.meter = Meter()
        self.records = 0
        # Set by `read_lines`: the file broke off, so that a record left open is no second problem.
        self.is_cut_off = False
