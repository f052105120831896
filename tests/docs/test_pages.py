"""The pages say what the code does: their examples run, and their tables are compared with it."""

from __future__ import annotations

import doctest
import inspect
import re
import shutil
import tomllib

import msgspec
import pytest

import entlink
from entlink.formats.documents.lines import decode_document, encode_document
from entlink.kb.names.aliases import PriorWeights
from entlink.kb.names.tiers import FACTORS
from entlink.linking.config import LinkerConfig, make_stage, read_config
from entlink.linking.explain import OUTCOMES
from entlink.linking.registry import BUILT_IN, find
from entlink.mentions.dictionary import DictionaryDetector
from entlink.sources import FORMATS
from fenced import DOCS, ROOT, Block, anchors, blocks, links, page, table
from histories import GOLDEN

PROSE = [*sorted(DOCS.glob("*.md")), *(ROOT / name for name in ("README.md", "CONVENTIONS.md", "CHANGELOG.md"))]


def run(block: Block, name: str, names: dict[str, object]) -> None:
    """Run a block: as a session when it has prompts, else as a program."""
    if ">>>" not in block.text:
        exec(compile("\n" * (block.line - 1) + block.text, name, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, name, name, block.line - 1)
    told: list[str] = []
    doctest.DocTestRunner().run(test, out=told.append, clear_globs=False)
    names.update(test.globs)
    assert not told, "".join(told)


@pytest.mark.parametrize(
    "name", ["data-model", "knowledge-base", "names", "linking", "evaluation", "conversations", "types"]
)
def test_the_python_of_a_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__page__"}
    found = blocks(page(name), "python")
    assert found
    for block in found:
        run(block, f"docs/{name}.md", names)


def test_the_python_of_wiki_dumps_runs(tmp_path, monkeypatch):
    shutil.copy(GOLDEN / "lyre.xml", tmp_path)
    monkeypatch.chdir(tmp_path)
    for block in blocks(page("wiki-dumps"), "python"):
        run(block, "docs/wiki-dumps.md", {})


def test_a_wrong_example_would_be_told():
    with pytest.raises(AssertionError, match="Expected"):
        run(Block("python", ">>> 1 + 1\n3\n", 1, ""), "page", {})


@pytest.mark.parametrize("block", blocks(page("data-model"), "json"), ids=lambda block: block.heading)
def test_the_json_of_a_noun_is_that_noun(block):
    line = block.text.strip().encode()
    if block.heading == "Document":
        written = encode_document(decode_document(line))
        assert written == encode_document(decode_document(written))
        assert {**msgspec.json.decode(line), "links": []}.keys() == msgspec.json.decode(written).keys()
    else:
        record = msgspec.json.decode(line, type=getattr(entlink, block.heading))
        assert msgspec.json.decode(msgspec.json.encode(record)) == msgspec.json.decode(line)


def test_every_noun_has_a_section_with_an_example():
    nouns = {row["noun"].strip("[").partition("]")[0] for row in table(page("data-model"), "noun", "in one line")}
    assert nouns == {block.heading for block in blocks(page("data-model"), "json")}


def test_the_configuration_shows_every_setting_with_its_default(tmp_path):
    (block,) = blocks(page("linking"), "toml")
    shown = tomllib.loads(block.text)
    path = tmp_path / "all.toml"
    path.write_text(block.text, encoding="utf8")
    default = LinkerConfig()
    config = read_config(path)
    assert {*shown, "fusion", "evidence"} == set(LinkerConfig.__struct_fields__)  # of which there is none by default
    for name in ("types", "min_score", "batch_size", "pool", "kb", "conversation"):
        assert getattr(config, name) == getattr(default, name)
    assert shown["kb"] == msgspec.to_builtins(default.kb)
    conversation = blocks(page("conversations"), "toml")[0]
    settings = msgspec.to_builtins(default.conversation, builtin_types=(tuple,)) | {"speakers": []}
    assert shown["conversation"] == tomllib.loads(conversation.text)["conversation"] == settings
    assert [stage["name"] for stage in config.retriever] == [stage["name"] for stage in default.retriever]
    for kind in ("detector", "retriever", "ranker", "nil", "nil_type"):
        for stage in shown[kind] if kind == "retriever" else [shown[kind]]:
            assert {key: value for key, value in stage.items() if key != "name"} == defaults(
                find(kind, stage["name"])
            )


def test_the_linker_with_a_learned_detector_is_one(tmp_path):
    block = blocks(page("conversations"), "toml")[1]
    path = tmp_path / "learned.toml"
    path.write_text(block.text.replace("\n# ", "\n"), encoding="utf8")  # with the three ways to set the dial, too
    config = read_config(path)
    assert {*config.detector} == {"name", *defaults(find("detector", config.detector["name"]))}
    known = [stage["name"] for stage in config.retriever]
    assert set(config.fusion["weights"]) == set(known) <= set(BUILT_IN["retriever"])


def test_the_weights_of_what_a_conversation_remembers_are_told():
    rows = {row["ranker"].strip("`"): row for row in table(page("conversations"), "ranker", "what `recent` does")}
    for name in ("prior", "combination"):
        weight = defaults(find("ranker", name))["recent"]
        assert f"the weight `recent` ({weight})" in rows.pop(name)["what `recent` does"]
    assert list(rows) == ["others"]


def defaults(factory: type) -> dict[str, object]:
    parameters = inspect.signature(factory).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not inspect.Parameter.empty}


def test_the_shown_configuration_makes_its_stages(toy):
    (block,) = blocks(page("linking"), "toml")
    shown = tomllib.loads(block.text)
    with entlink.KnowledgeBase.open(toy) as kb:
        assert isinstance(make_stage("detector", shown["detector"], kb), DictionaryDetector)


def test_linking_names_every_stage_outcome_and_evidence():
    text = page("linking")
    for kind in BUILT_IN.values():
        for name in kind:
            assert f"**{name}**" in text
    assert {row["outcome"].strip("`") for row in table(text, "outcome", "meaning")} == set(OUTCOMES)


def test_names_page_has_the_weights_and_scores_of_the_code():
    counts = {row["source"]: int(row["counts"]) for row in table(page("names"), "source", "counts")}
    weights = PriorWeights()
    assert counts == {
        "title": weights.title,
        "alias": weights.alias,
        "stripped title": weights.stripped,
        "opening": weights.opening,
        "anchor only": 0,
    }
    for tier, score in FACTORS.items():
        assert f"{tier.name.lower()} {score:g}" in page("names")


def test_knowledge_base_page_has_every_table_and_format():
    text = page("knowledge-base")
    schema = (ROOT / "src/entlink/kb/store/schema.sql").read_text(encoding="utf8")
    shown = {row["table"].strip("`") for row in table(text, "table", "one row is")}
    assert shown == set(re.findall(r"CREATE TABLE (\w+)", schema))
    formats = " ".join(row["format"] for row in table(text, "format", "what"))
    assert set(re.findall(r"`([\w-]+)`", formats)) == set(FORMATS)


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in links(path.read_text(encoding="utf8")):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        place = (path.parent / file).resolve() if file else path
        assert place.exists(), f"{path.name} links to {target}, which is not there"
        if anchor:
            assert anchor in anchors(place.read_text(encoding="utf8")), (
                f"{path.name} links to {target}: no such heading"
            )


def test_the_index_lists_every_page():
    listed = {target for target in links(page("index")) if target.endswith(".md")}
    assert {path.name for path in DOCS.glob("*.md")} - {"index.md"} <= listed
