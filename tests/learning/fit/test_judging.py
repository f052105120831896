"""NIL fitted to what a linker finds in documents with gold."""

import msgspec
import numpy
import pytest

from entlink.documents import Document, GoldLink, Span, Turn
from entlink.errors import InputError
from entlink.learning.fit.judging import _fit, _score, judge
from entlink.linking.config import LinkerConfig
from entlink.linking.linker import load
from entlink.nil import JudgedNil

NEVER = {"name": "threshold", "threshold": 0.0}


def quiet(stage, done, total):
    pass


@pytest.fixture
def linker(world_folder):
    config = LinkerConfig(nil=NEVER)
    linker = load(world_folder, config=config)
    yield linker
    linker.kb.close()


def gold_of(linker, text, wanted):
    """The document with gold for those names that are wanted, as the linker finds them."""
    found = linker.link(text).links
    return tuple(GoldLink(one.mention.span, (one.entity,)) for one in found if wanted(one))


def documents(linker, wanted, count=40):
    text = "Mercury is near Venus. The planet Mercury is small, and quicksilver is heavy."
    gold = gold_of(linker, text, wanted)
    return [Document(f"d{number}", text, gold=gold) for number in range(count)]


def test_what_gold_never_links_becomes_nil(linker):
    texts = documents(linker, lambda one: one.mention.text == "Mercury")
    config, found = judge(linker, LinkerConfig(), texts, 0, quiet)
    assert config.nil["name"] == "judged"
    assert found.gold == sum(len(one.gold) for one in texts)
    assert found.right == found.gold  # the gold is as the linker finds it
    assert found.before.recall == 1.0
    assert found.after.f1 >= found.before.f1
    policy = JudgedNil(linker.kb, **{name: value for name, value in config.nil.items() if name != "name"})
    linked = linker.link(texts[0].text).links
    kept = [policy.probability(one.mention, one.candidates) >= policy.threshold for one in linked]
    assert [one.mention.text for one, is_kept in zip(linked, kept, strict=True) if is_kept] == ["Mercury", "Mercury"]


def test_it_is_the_same_every_time(linker):
    texts = documents(linker, lambda one: one.mention.text == "Mercury")
    assert judge(linker, LinkerConfig(), texts, 3, quiet) == judge(linker, LinkerConfig(), texts, 3, quiet)


def test_only_annotated_turns_count(linker):
    said = [Turn("Mercury is near Venus.", "USER"), Turn("Mercury is near Venus.", "SYSTEM")]
    gold = gold_of(linker, "Mercury is near Venus.", lambda one: one.mention.text == "Mercury")
    texts = [
        msgspec.structs.replace(Document.of_turns(f"d{number}", said), gold=gold, meta={"annotated_turns": [0]})
        for number in range(60)
    ]
    _, found = judge(linker, LinkerConfig(), texts, 0, quiet)
    alone = linker.link(Document.of_turns("d", said)).links
    first = [one for one in alone if one.mention.span.end <= len("Mercury is near Venus.")]
    assert found.links == 60 * len(first)


def test_too_little_to_learn_from_is_told(linker):
    few = documents(linker, lambda one: one.mention.text == "Mercury", count=3)
    with pytest.raises(InputError, match="too few, or too much alike"):
        judge(linker, LinkerConfig(), few, 0, quiet)
    all_right = documents(linker, lambda one: True)
    with pytest.raises(InputError, match="too much alike"):
        judge(linker, LinkerConfig(), all_right, 0, quiet)
    with pytest.raises(InputError, match="0 links"):
        judge(linker, LinkerConfig(), [Document("d", "", gold=(GoldLink(Span(0, 0), ()),))], 0, quiet)


def test_the_fit_is_that_of_scikit_learn():
    linear = pytest.importorskip("sklearn.linear_model")
    random = numpy.random.default_rng(0)
    rows = random.standard_normal((500, 3)) * (1.0, 5.0, 0.1) + (0.0, 3.0, 1.0)
    right = random.random(500) < 1 / (1 + numpy.exp(-(rows @ (1.0, -0.3, 2.0) - 1.0)))
    weights, bias = _fit(rows, right)
    scaled = (rows - rows.mean(0)) / rows.std(0)
    theirs = linear.LogisticRegression(C=0.1, tol=1e-10, max_iter=10_000).fit(scaled, right)
    ours = 1 / (1 + numpy.exp(-(rows @ weights + bias)))
    assert ours == pytest.approx(theirs.predict_proba(scaled)[:, 1], abs=1e-5)


def test_a_measure_that_never_differs_weighs_nothing():
    rows = numpy.array([[1.0, 7.0], [2.0, 7.0], [3.0, 7.0], [4.0, 7.0]])
    weights, _ = _fit(rows, numpy.array([False, False, True, True]))
    assert weights[1] == 0.0
    assert weights[0] > 0.0


def test_scores_counted_by_hand():
    kept, right = numpy.array([True, True, False, True]), numpy.array([True, False, True, True])
    found = _score(kept, right, 5)
    assert (found.precision, found.recall, found.f1) == (2 / 3, 2 / 5, 4 / 8)
