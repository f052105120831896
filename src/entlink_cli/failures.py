"""What went wrong, as one line on stderr and an exit code; ENTLINK_DEBUG=1 shows where it happened."""

from __future__ import annotations

import errno
import os
import sys

from entlink.errors import EntlinkError, InputError, KnowledgeBaseError
from entlink_cli.terminal.output import note

INTERRUPTED = 130
BROKEN_PIPE = 141
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def report(problem: BaseException) -> int:
    """Tell of a problem and return its exit code."""
    if os.environ.get("ENTLINK_DEBUG"):
        from traceback import print_exception

        print_exception(problem)
    if isinstance(problem, BrokenPipeError):
        _let_go_of_stdout()
        return BROKEN_PIPE
    message, code = ("interrupted", INTERRUPTED) if is_interruption(problem) else _told(problem)
    note(message if code == INTERRUPTED else f"error: {message}")
    for more in getattr(problem, "__notes__", ()):
        note(more)
    return code


def is_interruption(problem: BaseException) -> bool:
    """Whether the user pressed Ctrl-C; in the middle of a query DuckDB makes another error of it."""
    return isinstance(problem, KeyboardInterrupt) or (
        isinstance(problem, RuntimeError) and str(problem) == "Query interrupted"
    )


def _told(problem: BaseException) -> tuple[str, int]:
    if isinstance(problem, EntlinkError):
        return str(problem), problem.exit_code
    if isinstance(problem, OSError):
        return _of_system(problem)
    if isinstance(problem, MemoryError):
        return "out of memory. Give fewer or smaller inputs, or less --memory", EntlinkError.exit_code
    if type(problem).__module__ == "sqlite3":
        return (
            f"the database of the knowledge base cannot be read on ({problem}). "
            "`entlink kb info --verify` says what is damaged",
            KnowledgeBaseError.exit_code,
        )
    kind = type(problem).__name__
    return f"{kind}: {problem}. ENTLINK_DEBUG=1 shows where this happened", EntlinkError.exit_code


def _of_system(problem: OSError) -> tuple[str, int]:
    where = f"{problem.filename}: " if problem.filename is not None else ""
    what = (problem.strerror or str(problem)).lower()
    if problem.errno in _NO_ROOM:
        return f"{where}{what}. Make room and run the command again", EntlinkError.exit_code
    if isinstance(problem, FileNotFoundError):
        return f"{where}{what}. Check the path", InputError.exit_code
    if isinstance(problem, PermissionError | IsADirectoryError | NotADirectoryError):
        return f"{where}{what}", InputError.exit_code
    return f"{where}{what}", EntlinkError.exit_code


def _let_go_of_stdout() -> None:
    """Nobody reads it any more: the interpreter's last flush must not fail on it again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        return  # not a real stream
    finally:
        os.close(nowhere)
