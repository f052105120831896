"""Which links are kept: one decision per proposal, and the likeliest set of those that do not overlap."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import entlink
from entlink.documents import Document, Link, Mention, Span
from entlink.nil.keep.features import AT_FIRST_LOOK
from entlink.nil.keep.policy import FIRST_LOOK, WITH_ENCODER, WITHOUT_ENCODER, keep_weights, likeliest_set
from entlink.text.word_frequency import word_frequency

_SPANS = st.tuples(st.integers(0, 12), st.integers(1, 5), st.sampled_from((0.5, 0.55, 0.7, 0.8, 0.95)))


def links_of(spans):
    return [Link(Mention(Span(start, start + size), "x" * size), "e", score) for start, size, score in spans]


def gain(links):
    return sum(one.score - 0.5 for one in links)


def overlap(links):
    return any(a.mention.span.overlaps(b.mention.span) for a, b in combinations(links, 2))


@given(st.lists(_SPANS, max_size=8))
def test_the_set_is_as_good_as_the_best_of_all_sets(spans):
    links = links_of(spans)
    kept = likeliest_set(links, 0.5)
    sets = (one for size in range(len(links) + 1) for one in combinations(links, size) if not overlap(one))
    assert not overlap(kept)
    assert gain(kept) == pytest.approx(max(map(gain, sets)))


@pytest.fixture
def linker(tmp_path):
    path = tmp_path / "wiki.csv"
    rows = [
        "id,title,description",
        "berlin,Berlin,Berlin is the capital city of Germany.",
        "next,NeXT,NeXT was an American computer company.",
        'york,New York,"New York is a city in the United States."',
        'old,York,"York is a city in England."',
        'queen,Queen (band),"Queen is a rock band. Brian May and Roger Taylor play guitar and drums in it."',
        'royal,Queen (ruler),"A queen is a woman who rules a kingdom and wears a crown."',
        'list,Mercury,"Mercury may refer to: a planet, a metal or a god."',
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf8")
    entlink.build([path], tmp_path / "wiki.kb")
    return entlink.load(tmp_path / "wiki.kb", config="everyday")


def linked(linker, text):
    return {link.mention.text: (link.entity, link.score) for link in linker.link(text).links}


def test_names_are_kept_and_everyday_words_are_not(linker):
    found = linked(linker, "She will fly to Berlin next week.")
    assert found.keys() == {"Berlin"}
    assert found["Berlin"][1] >= 0.5


def test_a_name_inside_a_longer_one_is_not_linked(linker):
    assert linked(linker, "They moved to New York in May.").keys() == {"New York"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Queen are a band, with Brian May on guitar and Roger Taylor on drums.", "queen"),
        ("The Queen wore her crown: she rules a large kingdom.", "royal"),
    ],
)
def test_the_words_around_choose_the_entity(linker, text, wanted):
    mention = Mention(Span(text.index("Queen"), text.index("Queen") + 5), "Queen")
    given_only = entlink.load(linker.kb.folder, config="everyday", mentions="given")
    [link] = given_only.link(Document("given", text, mentions=(mention,))).links
    assert link.entity == wanted


def test_given_spans_are_never_dropped_and_disambiguation_pages_are_no_entities(linker):
    text = "next to Mercury"
    given_spans = (Mention(Span(0, 4), "next"), Mention(Span(8, 15), "Mercury"))
    document = Document("given", text, mentions=given_spans)
    given_only = entlink.load(linker.kb.folder, config="everyday", mentions="given")
    assert [link.entity for link in given_only.link(document).links] == ["next", None]


def test_there_are_weights_for_every_spelling_whatever_is_known():
    spellings = {"cased", "lower", "caseless", "terms"}
    assert keep_weights().keys() == {FIRST_LOOK, WITHOUT_ENCODER, WITH_ENCODER}
    assert all(own.keys() == spellings for own in keep_weights().values())
    assert "similarity" in keep_weights()[WITH_ENCODER]["cased"]
    assert "similarity" not in keep_weights()[WITHOUT_ENCODER]["cased"]
    assert not keep_weights()[FIRST_LOOK]["cased"].keys() - AT_FIRST_LOOK


def test_nothing_is_left_out_at_first_look_of_few_entities(linker):
    [candidates] = linker.candidates(Document("one", "next"), [Mention(Span(0, 4), "next")])
    assert candidates
    assert not linker.nil.is_hopeless("next", candidates)


def test_min_score_shows_less_and_more(linker):
    text = "She will fly to Berlin by york."
    wide = entlink.load(linker.kb.folder, config="everyday", min_score=0.001)
    narrow = entlink.load(linker.kb.folder, config="everyday", min_score=0.9999)
    assert linked(wide, text).keys() == {"Berlin", "york"}
    assert linked(narrow, text).keys() < {"Berlin"}


def test_a_link_that_was_left_out_is_explained_by_its_probability(linker):
    link = entlink.load(linker.kb.folder, config="everyday", min_score=0.001).link("York, or york?").links
    strict = entlink.load(linker.kb.folder, config="everyday", min_score=0.9999)
    told = strict.explain("York, or york?").spans
    assert [one.outcome for one in told] == ["rejected", "rejected"]
    assert [f"probability {one.score:.3f}" in why.reason for one, why in zip(link, told, strict=True)] == [True, True]


def test_common_words_are_common_and_unknown_ones_are_rare():
    assert word_frequency("The").lower > word_frequency("climate").lower > word_frequency("myocardial").lower > 0
    assert word_frequency("Jordan").capital > word_frequency("jordan").lower == 0
    assert word_frequency("zyxwv").either == 0


def test_terms_are_wanted_where_all_is_asked_for(tmp_path):
    (tmp_path / "food.csv").write_text(
        "id,title,description\npizza,Pizza,Pizza is a food of Italy.\n", encoding="utf8"
    )
    entlink.build([tmp_path / "food.csv"], tmp_path / "food.kb")
    linker = entlink.load(tmp_path / "food.kb", config="everyday", min_score=0.0001)
    [usual] = linker.link("Everybody likes a good pizza in Italy.").links
    linker.nil.what = "all"
    [asked] = linker.link("Everybody likes a good pizza in Italy.").links
    assert usual.entity == asked.entity == "pizza"
    assert usual.score != asked.score
