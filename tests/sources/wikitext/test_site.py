from __future__ import annotations

import pytest

from entlink.sources.wikitext import Site, normalise_title, parse


@pytest.mark.parametrize(
    ("title", "number"),
    [
        ("Talk:Ant", 1),
        ("talk:Ant", 1),
        ("Datei:Ant", 6),
        ("Bild:Ant", 6),
        ("Image:Ant", 6),
        ("Ant", 0),
        ("Ant: a", 0),
    ],
)
def test_the_namespace_of_a_title(title, number):
    assert Site(language="de", namespaces={6: "Datei"}).namespace_of(title) == number


def test_a_former_name_counts_on_its_own_wiki_only():
    assert Site(language="bg").namespace_of("Картинка:Ant.jpg") == 6
    assert Site(language="en").namespace_of("Картинка:Ant.jpg") == 0
    assert parse("[[Картинка:Ant.jpg|thumb|An ant]]", Site(language="bg")).images == ("Ant.jpg",)


def test_a_prefix_becomes_the_name_the_wiki_uses():
    site = Site(language="de", namespaces={14: "Kategorie", 2: "Benutzer"})
    assert normalise_title("user:ann", site) == "Benutzer:Ann"
