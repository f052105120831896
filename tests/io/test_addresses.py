"""What is an address is no path: a build would else make folders called `s3:`."""

from __future__ import annotations

from pathlib import Path

import pytest

from entlink.datasets.folder_target import FolderTarget
from entlink.datasets.temporal.card import TemporalReport
from entlink.errors import InputError
from entlink.io.files import check_is_path
from entlink.io.outputs import file_to_write
from entlink.kb.build.from_sources import build

PRODUCTS = Path(__file__).parents[2] / "samples" / "products.csv"
ADDRESS = "s3://bucket/wiki.kb"


@pytest.mark.parametrize(
    "use",
    [
        lambda: build([PRODUCTS], ADDRESS),
        lambda: build(["hdfs://host:8020/wiki.xml.bz2"], "wiki.kb"),
        lambda: file_to_write("gs://bucket/links.jsonl"),
        lambda: FolderTarget(Path("dbfs:/tempel"), TemporalReport).check([], replace=False),
    ],
    ids=["knowledge base", "source", "file", "folder"],
)
def test_an_address_is_refused_where_a_path_is_wanted(use, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="this is an address, and entlink reads and writes files"):
        use()
    assert list(tmp_path.iterdir()) == []


def test_what_looks_like_one_and_is_there_is_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("notes:").mkdir()
    Path("notes:/a.csv").touch()
    check_is_path("notes:/a.csv")
    check_is_path("notes: a/b")
