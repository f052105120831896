"""Vectors trained on texts: related words are nearer, the same seed gives the same bytes, memory is bounded."""

from __future__ import annotations

import random

import numpy
import pytest

from entlink.encoders.loading import load_encoder
from entlink.encoders.static.cooccurrence import Pairs, left_vectors, product, transposed
from entlink.encoders.static.training import train_static
from entlink.errors import ExistsError, InputError

TOPICS = {
    "animals": ["cat", "dog", "horse", "kitten", "puppy", "tail", "fur", "paw"],
    "money": ["bank", "loan", "credit", "interest", "deposit", "cash", "debt", "account"],
    "天气": ["下雨", "刮风", "晴天", "多云", "气温"],
    "学校": ["老师", "学生", "教室", "考试", "作业"],
}


def corpus(seed=1, texts=1500):
    """Texts of one topic each, with common words between."""
    chosen = random.Random(seed)
    for _ in range(texts):
        words = TOPICS[chosen.choice(list(TOPICS))]
        common = ["，"] if words[0] >= "一" else ["the", "a", "and", "with"]
        yield " ".join(word for _ in range(6) for word in (chosen.choice(common), chosen.choice(words)))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return train_static(corpus(), tmp_path_factory.mktemp("trained") / "vectors", dimension=24)


def cosine(encoder, one, other):
    first, second = encoder.encode([one, other])
    return float(first @ second)


@pytest.mark.parametrize(
    ("word", "near", "far"),
    [("cat", "dog", "bank"), ("loan", "debt", "fur"), ("下雨", "刮风", "老师"), ("考试", "作业", "气温")],
)
def test_related_words_are_nearer_than_unrelated_ones(trained, word, near, far):
    assert cosine(trained, word, near) > cosine(trained, word, far) + 0.3


def test_texts_on_one_topic_are_nearer(trained):
    assert cosine(trained, "the dog with the tail", "a kitten and a puppy") > cosine(
        trained, "the dog with the tail", "the bank and the interest"
    )


def test_a_word_that_was_not_seen_is_made_of_its_parts(trained):
    assert cosine(trained, "kittens", "kitten") > cosine(trained, "kittens", "account")
    assert trained.encode(["kittens"]).any()
    assert cosine(trained, "师生", "教室") > cosine(trained, "师生", "多云")


def test_the_same_seed_gives_the_same_files(tmp_path):
    one, other, third = (
        train_static(corpus(texts=200), tmp_path / name, name="x", dimension=8, seed=seed)
        for name, seed in (("one", 3), ("other", 3), ("third", 4))
    )
    assert one.identity == other.identity
    assert one.identity != third.identity


def test_it_is_loaded_from_its_folder(tmp_path, store):
    made = train_static(corpus(texts=200), tmp_path / "mine", dimension=8)
    found = load_encoder(tmp_path / "mine")
    assert (found.identity, found.dimension) == (made.identity, 8)
    assert (found.encode(["cat", "loan"]) == made.encode(["cat", "loan"])).all()


@pytest.mark.parametrize(
    ("texts", "told"),
    [([], "only 0 words occur 2 times"), (["one two three"], "only 0 words"), (["a b"] * 9, "only 2 words")],
)
def test_too_little_text(tmp_path, texts, told):
    with pytest.raises(InputError, match=told):
        train_static(texts, tmp_path / "x")


def test_settings_that_do_not_fit(tmp_path):
    with pytest.raises(InputError, match="dimension = 0 does not fit"):
        train_static(["a b c"] * 3, tmp_path / "x", dimension=0)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ExistsError, match="something is there already"):
        train_static(["a b c"] * 3, tmp_path)


def dense(matrix):
    full = numpy.zeros(matrix.shape)
    ends = numpy.append(matrix.starts[1:], len(matrix.values))
    for row, start, end in zip(matrix.rows, matrix.starts, ends, strict=True):
        full[row, matrix.columns[start:end]] = matrix.values[start:end]
    return full


@pytest.fixture
def matrix():
    chosen = numpy.random.default_rng(5)
    pairs = Pairs(40, 30, 3)
    for _ in range(4):  # blocks
        pairs.add(chosen.integers(0, 40, 300), numpy.sort(chosen.integers(0, 20, 300)))
    return pairs.information()


def test_information_is_that_of_its_definition():
    ids, texts = numpy.array([0, 1, 2, 0, 1]), numpy.array([0, 0, 0, 1, 1])
    pairs = Pairs(3, 3, 2)
    pairs.add(ids, texts)
    counts = numpy.array([[0, 2, 0.5], [2, 0, 1], [0.5, 1, 0]])
    contexts = counts.sum(axis=0) ** 0.75
    with numpy.errstate(divide="ignore"):
        expected = numpy.log(counts * contexts.sum() / (counts.sum(axis=1)[:, None] * contexts))
    assert dense(pairs.information()) == pytest.approx(numpy.maximum(expected, 0), abs=1e-6)


@pytest.mark.parametrize("most", [1, 7, 10_000])
def test_products_are_those_of_the_full_matrix(matrix, most):
    other = numpy.random.default_rng(1).standard_normal((30, 4)).astype(numpy.float32)
    assert product(matrix, other, most) == pytest.approx(dense(matrix) @ other, abs=1e-4)
    assert dense(transposed(matrix)) == pytest.approx(dense(matrix).T)


def test_vectors_are_those_of_a_full_decomposition(matrix):
    found = left_vectors(matrix, 10, 0, rounds=6)
    left, values, _ = numpy.linalg.svd(dense(matrix))
    expected = left[:, :10] * numpy.sqrt(values[:10])
    assert found @ found.T == pytest.approx(expected @ expected.T, abs=2e-2)


def test_pairs_are_pruned_to_a_bound():
    pairs = Pairs(1000, 1000, 2, most=500)
    chosen = numpy.random.default_rng(0)
    for _ in range(5):
        pairs.add(chosen.integers(0, 1000, 2000), numpy.zeros(2000, numpy.int64))
        assert len(pairs._keys) <= 500
        assert (numpy.diff(pairs._keys) > 0).all()
