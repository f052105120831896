"""Everything entlink raises on purpose.

    EntlinkError
    ├── InputError          a file, record or argument the user gave is wrong
    │   ├── FieldError      a value that cannot be a field of an entity
    │   ├── SourceError     a record of a source: carries file and position
    │   ├── SpanError       a span that does not fit its text, or overlaps another
    │   ├── ConfigError     a linker configuration whose parts do not fit
    │   └── OtherTrainingError  a checkpoint of a training that was begun otherwise
    ├── KnowledgeBaseError  the KB folder itself
    │   ├── NotFoundError   no KB at that path, or no such entity
    │   ├── ExistsError     something is there already and was not to be replaced
    │   ├── VersionError    a KB of another schema version
    │   ├── DamagedError    a file of the KB is missing, cut off or altered
    │   └── LockedError     another process is writing
    ├── MissingExtraError   a feature whose optional dependency is not installed
    └── MissingModelError   a model that is not on this machine

Each message says what is wrong, where, and what to do about it.
"""

from __future__ import annotations


class EntlinkError(Exception):
    """Base of all errors of this package; the command line turns it into one line and an exit code."""

    exit_code = 1


class InputError(EntlinkError):
    """A file, record or argument the user gave is wrong."""

    exit_code = 3


class SourceError(InputError):
    """A record of a source is bad: `file` and `position` (line, byte or row) say which."""

    def __init__(self, problem: str, file: str = "", position: str = "", hint: str = "") -> None:
        self.problem, self.file, self.position, self.hint = problem, file, position, hint
        place = ", ".join(part for part in (file, position) if part)
        message = f"{place}: {problem}" if place else problem
        super().__init__(f"{message}. {hint}" if hint else message)


class FieldError(InputError):
    """A value that cannot become a field of an entity; who knows the record adds its file and position."""

    def __init__(self, problem: str, hint: str = "") -> None:
        self.problem, self.hint = problem, hint
        super().__init__(f"{problem}. {hint}" if hint else problem)

    def of(self, kind: str, name: str) -> FieldError:
        """The same with the name of what holds the value: a `column`, or a `field`."""
        return FieldError(f"{kind} {name!r} {self.problem}", self.hint)

    def at(self, file: object, position: str) -> SourceError:
        """The error of a record: the same with its file and position."""
        return SourceError(self.problem, str(file), position, self.hint)


class SpanError(InputError):
    """A span lies outside its text or overlaps another."""


class ConfigError(InputError):
    """A configuration names something that does not exist or does not fit."""


class OtherTrainingError(InputError):
    """A checkpoint is of a training with other settings, examples or weights to start from."""


class KnowledgeBaseError(EntlinkError):
    """The KB folder is not what the caller expected."""

    exit_code = 4


class NotFoundError(KnowledgeBaseError):
    """There is no such KB, or no such entity in it."""


class ExistsError(KnowledgeBaseError):
    """Something is there already and was not to be replaced."""


class VersionError(KnowledgeBaseError):
    """The KB has a schema version this release cannot read."""


class DamagedError(KnowledgeBaseError):
    """A file of the KB is missing, cut off or altered."""


class LockedError(KnowledgeBaseError):
    """Another process is writing to the KB."""

    exit_code = 5


class MissingExtraError(EntlinkError):
    """An optional dependency is needed and absent."""

    exit_code = 6

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional part: pip install 'entlink[{extra}]'")


class MissingModelError(EntlinkError):
    """A model is needed that has not been pulled, or that is not where it was said to be."""

    exit_code = 6
