"""A rule that does not hold: told by its name, so that a fuzzer can tell one kind of failure from another."""

from __future__ import annotations

import traceback
from collections.abc import Callable


class BrokenRuleError(AssertionError):
    """A rule does not hold of this case."""

    def __init__(self, rule: str, case: object) -> None:
        self.rule = rule
        super().__init__(f"{rule}: {case!r:.400}")


def holds(rule: str, is_true: bool, case: object) -> None:
    """Raise where a rule does not hold."""
    if not is_true:
        raise BrokenRuleError(rule, case)


def kind_of_failure(problem: BaseException) -> str:
    """The rule that is broken; for any other error its type and where it was raised."""
    if isinstance(problem, BrokenRuleError):
        return problem.rule
    last = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{type(problem).__name__} in {last.filename.rpartition('/')[2]}, {last.name}"


def shortened(data: bytes, still_fails: Callable[[bytes], bool]) -> bytes:
    """A shorter input that fails all the same: pieces are taken out as long as it does, smaller and smaller ones."""
    step = len(data) // 2
    while step:
        at = 0
        while at < len(data):
            rest = data[:at] + data[at + step :]
            if still_fails(rest):
                data = rest
            else:
                at += step
        step //= 2
    return data
