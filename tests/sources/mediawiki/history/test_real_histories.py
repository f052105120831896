"""Real histories beside a plain reading of them, and a made one beside its truth. They are not in the repository."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from entlink.io.files import Meter, open_bytes
from entlink.sources import Page, Redirect
from histories import ARTICLES, MAKE_HISTORY, at, chosen_raw, plainly_chosen, read_dated


@pytest.mark.parametrize(
    ("name", "dates", "pages"),
    [
        ("aawiki-20260101-pages-meta-history.xml.7z", "2005/2026/monthly", 500),
        ("enwiki-20140102.tiny.xml.gz", "2001-06/2014/monthly", 2),
    ],
)
def test_real_histories_against_a_plain_reading(shared_data, name, dates, pages):
    path = shared_data / "mediawiki" / name
    with open_bytes(path, Meter()) as file:
        wanted = plainly_chosen(file.read(), dates)
    found = chosen_raw(path, dates)
    assert {key: row[:2] for key, row in found.items()} == {key: row[:2] for key, row in wanted.items()}
    assert len({page for page, _ in found}) >= pages


def test_a_real_redirect_of_other_times(shared_data):
    items, ledger = read_dated(shared_data / "mediawiki" / "enwiki-20140102.tiny.xml.gz", "2001-06,2002-06,2014")
    assert ledger.skipped == 0
    first, second, third = (list(at(items, snapshot)) for snapshot in range(3))
    assert [item.entity.title for item in first] == ["AccessibleComputing"]
    assert Redirect("AccessibleComputing", "Accessible Computing") in second
    assert Redirect("AccessibleComputing", "Computer accessibility") in third


@pytest.fixture(scope="module", params=[4, 5])
def made(request, tmp_path_factory) -> tuple[Path, list[dict]]:
    """A made history of 200 pages, and what is true of it."""
    if not (MAKE_HISTORY.exists() and ARTICLES.exists()):
        pytest.skip(f"what makes histories is not at {MAKE_HISTORY}")
    folder = tmp_path_factory.mktemp("made")
    path, truth = folder / "history.xml.bz2", folder / "truth.jsonl"
    options = ["--articles", "200", "--seed", str(request.param)]
    subprocess.run([sys.executable, MAKE_HISTORY, ARTICLES, path, truth, *options], check=True)
    return path, [json.loads(line) for line in truth.read_text(encoding="utf8").splitlines()]


def test_a_made_history_against_its_truth(made):
    path, truth = made
    items, ledger = read_dated(path, sorted({row["snapshot"] for row in truth}))
    pages, redirects = set(), set()
    for dated in items:
        for snapshot in dated.snapshots:
            item = dated.item
            if isinstance(item, Page):
                number, revision = int(item.entity.external["page"]), int(item.entity.external["revision"])
                pages.add((snapshot, number, revision, item.entity.title, item.entity.created))
            elif isinstance(item, Redirect):
                redirects.add((snapshot, item.title, item.target))
    dates = sorted({row["snapshot"] for row in truth})
    wanted, led = set(), set()
    for row in filter(lambda row: row["exists"], truth):
        snapshot = dates.index(row["snapshot"])
        if row["redirect"] is None:
            wanted.add((snapshot, row["page"], row["revision"], row["title"], row["created"]))
        else:
            led.add((snapshot, row["title"], row["redirect"]))
    assert pages == wanted
    assert redirects == led
    assert (len(pages) > 1000, len(redirects) > 10, ledger.skipped) == (True, True, 0)
