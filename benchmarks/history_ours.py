"""python benchmarks/history_ours.py HISTORY DATES PROCESSES    read a history into a folder that is thrown away"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from entlink.engine.local import LocalEngine
from entlink.kb.build.read_history import read_history
from entlink.sources import HistoryOptions, open_source, snapshot_dates


def main() -> None:
    path, dates, processes = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        engine, options = LocalEngine(processes=int(processes)), HistoryOptions(snapshot_dates(dates))
        read_history(engine, [open_source(path)], Path(folder), options)


if __name__ == "__main__":
    main()
