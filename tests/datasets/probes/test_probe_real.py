"""Tasks of the real sources that are at hand, counted once more by plain means."""

from __future__ import annotations

import json

import pytest

from entlink.datasets.probes import build_probes
from entlink.formats.probes import read_task
from knowledge_bases import SHARED_DATA

FEVER = SHARED_DATA / "fever" / "data" / "paper_dev.jsonl"


@pytest.mark.skipif(not FEVER.is_file(), reason=f"FEVER is not at {FEVER}")
def test_claims_of_fever(tmp_path):
    report = build_probes("efp", FEVER, tmp_path / "efp")
    claims = [json.loads(line) for line in FEVER.read_text(encoding="utf8").splitlines()]
    labels = {str(one["id"]): one["label"] for one in claims if one["label"] != "NOT ENOUGH INFO"}
    assert len(labels) == 6666
    assert report.card.of == len({one["claim"] for one in claims if str(one["id"]) in labels}) == 6512
    rows = [row for rows in read_task(tmp_path / "efp").splits.values() for row in rows]
    assert len({row.entities[0].sentence for row in rows}) == len(rows) == report.card.covered == 6380
    assert all(row.labels == (labels[row.id],) for row in rows)
    texts = {str(one["id"]): one for one in claims}
    for row in rows:
        titles = json.dumps(texts[row.id]["evidence"], ensure_ascii=False).replace("_", " ").casefold()
        assert row.entities[0].sentence == texts[row.id]["claim"]
        if row.entities[0].mention.isascii() and row.entities[0].mention.isalpha():
            assert row.entities[0].mention.casefold() in titles
