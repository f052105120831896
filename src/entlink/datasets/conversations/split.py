"""Which threads stay and where they go: the cap on trivial ones, and the split by date and density.

As published, conversations up to a day are for training; of each later one the densest thread is for testing and the
rest for training. So a conversation may be on both sides. The second training set leaves out what crosses.
"""

from __future__ import annotations

import sqlite3
from fractions import Fraction

from entlink.datasets.conversations.staging import CROSSING, DROPPED, TEST, TRAIN

_PRECISION = 10**9


def cap_exact(connection: sqlite3.Connection, share: float) -> int:
    """Drop threads that have a mention that is a title, by chance, until they are `share` of all at most.

    Returns how many were dropped. Chance is the thread's hash.
    """
    count = "SELECT count(*) FROM threads WHERE exact = ?"
    exact, other = (int(connection.execute(count, (is_exact,)).fetchone()[0]) for is_exact in (1, 0))
    allowed = most_exact(exact, other, share)
    connection.execute("UPDATE threads SET place = ? WHERE exact = 0", (TRAIN,))
    chosen = "SELECT number FROM threads WHERE exact = 1 ORDER BY hash, id LIMIT ?"
    connection.execute(f"UPDATE threads SET place = ? WHERE number IN ({chosen})", (TRAIN, allowed))
    return exact - allowed


def most_exact(exact: int, other: int, share: float) -> int:
    """How many of the exact threads may stay, so that they are at most `share` of them and all others."""
    wanted = Fraction(share).limit_denominator(_PRECISION)
    return exact if wanted >= 1 else min(exact, int(wanted * other / (1 - wanted)))


def split(connection: sqlite3.Connection, last_second: int, test_limit: int | None) -> None:
    """Of each conversation after that second the densest thread is for testing; its others cross.

    Density is annotations by utterances. Of equals the thread with more annotations is taken, then by its id.
    """
    order = "1.0 * annotations / utterances DESC, annotations DESC, id"
    connection.execute(
        "CREATE TEMP TABLE tested AS SELECT number, conversation FROM ("
        f"SELECT *, row_number() OVER (PARTITION BY conversation ORDER BY {order}) AS rank"
        " FROM threads WHERE place <> ? AND time > ?)"
        f" WHERE rank = 1 ORDER BY {order} LIMIT ?",
        (DROPPED, last_second, -1 if test_limit is None else test_limit),
    )
    crossing = "place <> ? AND conversation IN (SELECT conversation FROM tested)"
    connection.execute(f"UPDATE threads SET place = ? WHERE {crossing}", (CROSSING, DROPPED))
    connection.execute("UPDATE threads SET place = ? WHERE number IN (SELECT number FROM tested)", (TEST,))
