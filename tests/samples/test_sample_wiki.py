"""What becomes of the sample wikis in a knowledge base: ambiguous, dated, illustrated, in two languages."""

from __future__ import annotations

import json
import re

import pytest

import entlink
from entlink import Document, Turn
from sample_exports import EXPORTS, SAMPLES, article_links, pages

MARKUP = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{\||''|<|>|&\w+;|\|| {2}")


@pytest.fixture(scope="module")
def wikis():
    return {language: pages(language) for language in EXPORTS}


@pytest.fixture(scope="module")
def articles(wikis):
    return {page.title: page for wiki in wikis.values() for page in wiki if page.is_article}


@pytest.fixture(scope="module")
def linker(sample_folder):
    linker = entlink.load(sample_folder, config="lexical")
    yield linker
    linker.kb.close()


def meanings(kb, surface):
    return {one.entity: one for one in kb.aliases(surface)}


def test_the_articles_become_entities_and_nothing_else(kb, articles):
    assert {entity.id for entity in kb} == set(articles)
    assert 140 <= len(kb) <= 170
    assert sum(entity.language == "zh" for entity in kb) >= 12


def test_texts_are_short_and_without_markup(kb):
    for entity in kb:
        assert 30 <= len(entity.description) <= 700, entity.id
        assert not MARKUP.search(entity.description), entity.description


def test_categories_become_types(kb, articles):
    for entity in kb:
        categories = re.findall(r"\[\[Category:([^\[\]]+)\]\]", articles[entity.id].text)
        assert list(entity.types) == categories != [], entity.id


def test_every_link_counts_and_nearly_every_article_is_linked(kb, articles, wikis):
    manifest = kb.manifest()
    outside = [re.sub(r"\{\{Infobox.*?\n\}\}", "", page.text, flags=re.DOTALL) for page in articles.values()]
    assert manifest.links == sum(len(article_links(text)) for text in outside) >= 450
    assert manifest.links_unresolved == 0
    redirects = {page.title: page.redirect for wiki in wikis.values() for page in wiki if page.redirect}
    linked = {redirects.get(target, target) for page in articles.values() for target, _ in article_links(page.text)}
    assert len(set(articles) - linked) <= 3


def test_what_the_build_tells_of_redirects_and_disambiguation_pages(kb, wikis):
    redirects = [page for wiki in wikis.values() for page in wiki if page.redirect]
    ambiguous = [page for wiki in wikis.values() for page in wiki if page.is_disambiguation]
    told = kb.manifest().wiki
    assert (told.redirects, told.loops, told.meanings) == (len(redirects), 0, len(ambiguous))
    assert told.to_nothing == 0


def test_redirects_become_aliases(kb, wikis, articles):
    for page in (page for wiki in wikis.values() for page in wiki if page.redirect in articles):
        assert page.title in kb.get(page.redirect).aliases
        assert kb.resolve(page.title).id == page.redirect


def test_disambiguation_pages_give_each_meaning_the_name(kb, wikis):
    for page in (page for wiki in wikis.values() for page in wiki if page.is_disambiguation):
        name = re.sub(r" \((disambiguation|消歧义)\)$", "", page.title)
        assert set(meanings(kb, name)) >= set(page.meanings)


@pytest.mark.parametrize(
    ("surface", "common", "rare"),
    [
        ("Mercury", "Mercury (planet)", "Mercury (automobile)"),
        ("London", "London", "London, Ontario"),
        ("Java", "Java", "Java (编程语言)"),
        ("Paris", "Paris", "Paris, Texas"),
        ("Athens", "Athens", "Athens, Georgia"),
        ("小米", "小米集团", "小米"),
    ],
)
def test_links_give_a_prior(kb, surface, common, rare):
    found = meanings(kb, surface)
    assert found[common].support > found[rare].support > 0
    assert next(iter(found)) == common


def test_an_article_is_found_by_other_identifiers(kb):
    for identifier in ("Mercury (planet)", "Q308", "page:12"):
        assert kb.resolve(identifier).id == "Mercury (planet)"
    assert kb.resolve("Q956").id == "北京"
    assert kb.get("Mercury (planet)").external["wikipedia:zh"] == "水星"


def test_articles_have_pictures(kb, articles):
    for entity in kb:
        shown = re.findall(r"\[\[File:([^|\]]+)", articles[entity.id].text)
        assert list(entity.images) == shown, entity.id


def test_units_are_converted(kb):
    assert "about 80 km (50 mi) north of London" in kb.get("Cambridge").description


@pytest.mark.parametrize(
    ("id", "day", "before", "since"),
    [
        ("Eswatini", "2018-04-19", "Swaziland", "Eswatini"),
        ("X (social network)", "2023-07-24", "Twitter", "X (social network)"),
        ("Istanbul", "1930-03-28", "Constantinople", "Istanbul"),
        ("Türkiye", "2022-06-01", "Turkey", "Türkiye"),
    ],
)
def test_a_moved_article_has_its_old_title_before(kb, id, day, before, since):
    with kb.as_of(f"{day}T00:00:00Z") as then:
        assert then.get(id).title == since
    with kb.as_of(f"{int(day[:4]) - 1}-12-31") as then:
        assert then.get(id).title == before
    assert [version.entity.title for version in kb.versions(id)] == [before, since]


def hits(linker, document, gold):
    """How many of the gold (start, end, entity) are linked just so."""
    links = {(link.mention.span.start, link.mention.span.end, link.entity) for link in linker.link(document).links}
    return len(links & {one for one in gold if one[2]})


@pytest.mark.parametrize(("name", "right"), [("article", 19), ("article.zh", 4)])
def test_counts_alone_link_most_of_an_article(linker, name, right):
    row = json.loads((SAMPLES / f"{name}.gold.jsonl").read_text(encoding="utf-8"))
    gold = [(one["start"], one["end"], one["entity"]) for one in row["mentions"]]
    assert hits(linker, row["text"], gold) >= right


@pytest.mark.parametrize(("number", "right"), [(0, 6), (1, 12)])
def test_counts_alone_link_much_of_a_conversation(linker, number, right):
    row = json.loads((SAMPLES / "conversations.jsonl").read_text(encoding="utf-8").splitlines()[number])
    document = Document.of_turns(row["id"], [Turn(turn["text"], turn["speaker"]) for turn in row["turns"]])
    starts = [span.start for span in document.turn_spans]
    gold = [
        (starts[one["turn"]] + one["start"], starts[one["turn"]] + one["end"], one["entity"]) for one in row["gold"]
    ]
    assert hits(linker, document, gold) >= right


def test_words_around_link_ordinary_text(sample_folder):
    linker = entlink.load(sample_folder)
    found = {link.mention.text: link.entity for link in linker.link((SAMPLES / "news.txt").read_text("utf-8")).links}
    linker.kb.close()
    assert found["Mercury"] == "Freddie Mercury"
    assert found["Titan"] == "Titan (moon)"
    assert found["Games"] == "Olympic Games"
    assert found["Reading"] == "Reading, Berkshire"
    assert not {"reading", "nice", "will", "Monday"} & set(found)
