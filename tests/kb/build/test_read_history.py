"""Full histories read into folders of parts by an engine, whatever happens in between."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dump_files import PACK, export, noise, page, revision
from entlink.engine.local import LocalEngine
from entlink.errors import SourceError
from entlink.kb.build.read_history import CARD, read_history, read_history_card
from entlink.sources import DATED, HistoryOptions, Page, items_of, open_source, snapshot_dates
from histories import GOLDEN

YEARLY = HistoryOptions(snapshot_dates("2013/2016/yearly"))
READ = """
import sys
from pathlib import Path
from entlink.engine.local import LocalEngine
from entlink.kb.build.read_history import read_history
from entlink.sources import HistoryOptions, open_source, snapshot_dates
if __name__ == "__main__":
    read_history(
        LocalEngine(processes=int(sys.argv[3])),
        [open_source(sys.argv[1])],
        Path(sys.argv[2]),
        HistoryOptions(snapshot_dates("2013/2016/yearly")),
    )
"""


def numbered(id: int, year: int, text: str) -> str:
    return revision(text, f"{year}-05-05T00:00:00Z").replace("<id>5</id>", f"<id>{id}</id>")


@pytest.fixture(scope="module")
def history(tmp_path_factory) -> Path:
    """Large enough for several parts."""
    years = range(2011, 2017)
    pages = (
        page(f"Hill {n}", n, *(numbered(100 * n + k, year, noise(40_000, n + k)) for k, year in enumerate(years)))
        for n in range(1, 140)
    )
    path = tmp_path_factory.mktemp("history") / "a.xml"
    path.write_bytes(export(*pages))
    return path


def read(path: Path, folder: Path, options: HistoryOptions = YEARLY, processes: int = 1, **settings):
    return read_history(LocalEngine(processes=processes), [open_source(path, **settings)], folder, options)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.*") if file.suffix != ""}


def test_parts_hold_what_is_asked_for_by_snapshot(history, tmp_path):
    found = read(history, tmp_path / "out")
    assert len(found.parts) > 2
    assert [sorted(file.name for file in part.iterdir()) for part in found.parts] == [[CARD, DATED]] * len(
        found.parts
    )
    for snapshot in range(4):
        entities = [item.entity for part in found.parts for item in items_of(part, snapshot)]
        assert [entity.title for entity in entities] == [f"Hill {n}" for n in range(1, 140)]
        assert {entity.revised for entity in entities} == {f"{2012 + snapshot}-05-05T00:00:00Z"}
    assert sum(read_history_card(part).items for part in found.parts) == 4 * 139


def test_any_number_of_processes_gives_the_same_bytes(history, tmp_path):
    one, two = read(history, tmp_path / "one"), read(history, tmp_path / "two", processes=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert [part.name for part in one.parts] == [part.name for part in two.parts]


def test_other_snapshots_or_settings_are_read_anew(history, tmp_path):
    found = read(history, tmp_path)
    before = found.parts[0].stat().st_mtime_ns
    assert read(history, tmp_path).parts[0].stat().st_mtime_ns == before
    read(history, tmp_path, HistoryOptions(YEARLY.dates[:2]))
    assert found.parts[0].stat().st_mtime_ns != before
    assert not list(items_of(found.parts[0], 2))


def test_several_dumps_are_read_one_after_the_other(history, tmp_path):
    golden = GOLDEN / "lyre.xml"
    sources = [open_source(golden), open_source(history)]
    options = HistoryOptions(snapshot_dates("2013,2014,2015"))
    found = read_history(LocalEngine(processes=2), sources, tmp_path / "out", options)
    titles = [item.entity.title for part in found.parts for item in items_of(part, 0) if isinstance(item, Page)]
    assert titles[0] == "River Avon"
    assert titles[-1] == "Hill 139"
    assert found.omitted.left_out == {"not there at any of the snapshots": 1, "of the namespace Talk": 1}


@pytest.mark.parametrize("kind", ["xml", "xml.bz2", "xml.gz"])
def test_what_is_bad_stops_or_is_listed(tmp_path, kind):
    whole = export(page("Hill", 1, numbered(1, 2012, "a")), page("Dale", 2, numbered(2, 2012, "b &c")))
    path = tmp_path / f"a.{kind}"
    path.write_bytes(PACK[kind](whole.replace(b"b &amp;c", b"b &c")))
    with pytest.raises(SourceError, match="page 'Dale'"):
        read(path, tmp_path / "stop")
    found = read(path, tmp_path / "skip", on_error="skip")
    assert [item.entity.title for part in found.parts for item in items_of(part, 1)] == ["Hill"]
    assert found.omitted.skipped == 1
    assert "page 'Dale'" in found.omitted.problems[0]


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_any_moment_it_goes_on(history, tmp_path, seed):
    pick = random.Random(seed)
    processes = str(1 + seed % 2)
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", READ, history, tmp_path / "whole", processes], check=True)
    takes = time.perf_counter() - started
    for _ in range(4):
        process = subprocess.Popen([sys.executable, "-c", READ, history, tmp_path / "killed", processes])
        time.sleep(pick.uniform(0, takes))
        process.send_signal(signal.SIGKILL)
        process.wait()
    read(history, tmp_path / "killed")
    left = {name: data for name, data in contents(tmp_path / "killed").items() if ".partial/" not in name}
    assert left == contents(tmp_path / "whole")
