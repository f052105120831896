"""Every fusion of a multimodal model learns what only pictures show, and links by it without torch."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from entlink.errors import ConfigError
from tiny_multimodal import right


@pytest.mark.parametrize(
    "fusion", ["single-stream", "separate-first", "cross-attention", "modality-attention", "concatenation"]
)
def test_it_learns_what_only_the_picture_shows(pictured, trained, fusion):
    """By the layers alone, without shortcuts."""
    ranker = trained(
        fusion=fusion, shortcuts=False, own_layers=0, epochs=14, learning_rate=5e-3, drop=0.0, negatives=1
    )
    assert right(ranker, pictured.asked) >= 22
    assert right(ranker, pictured.asked, without={"mention-picture"}) < 20


def test_read_together_it_learns_too(pictured, trained):
    ranker = trained(fusion="read-together", epochs=10, drop=0.0, in_batch=0, negatives=1)
    assert right(ranker, pictured.asked) >= 20
    with pytest.raises(ConfigError, match="reads a mention and an entity together"):
        ranker.model.encode_entities([])


def test_at_work_it_needs_no_torch(pictured, trained, tmp_path):
    trained(epochs=8)
    config = tmp_path / "linker.toml"
    config.write_text(
        '[detector]\nname = "given"\n[[retriever]]\nname = "alias"\n'
        f'[ranker]\nname = "multimodal"\nmodel = "{tmp_path / "made"}"\n'
    )
    lines = []
    for one in pictured.asked:
        span = {"start": one.mention.span.start, "end": one.mention.span.end, "text": one.mention.text}
        row = {"id": one.document.id, "text": one.document.text, "image": one.document.images[0].uri}
        lines.append(json.dumps({**row, "mentions": [span]}) + "\n")
    (tmp_path / "captions.jsonl").write_text("".join(lines))
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "import entlink\n"
        f"linker = entlink.load({str(pictured.kb.folder)!r}, config={str(config)!r})\n"
        f"entlink.link_file(linker, {str(tmp_path / 'captions.jsonl')!r}, {str(tmp_path / 'linked.jsonl')!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    linked = [json.loads(line) for line in (tmp_path / "linked.jsonl").read_text().splitlines()]
    found = [row["links"][0]["entity"] for row in linked]
    assert sum(id == one.entity for id, one in zip(found, pictured.asked, strict=True)) >= 22
