"""Files of word vectors in every format give the same encoder, and what is wrong with them is told."""

from __future__ import annotations

import struct

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.encoders.loading import load_encoder
from entlink.encoders.models.store import installed
from entlink.encoders.static.encoder import StaticSettings, bigram_units, gram_ids, runs, zipf_shares
from entlink.encoders.static.files import open_vectors
from entlink.encoders.static.writing import write_vectors
from entlink.errors import InputError, SourceError

WORDS = ["the", "River", "bank", "New_York", "北京", "京", "大学", "naïve", "."]


def vectors(count=9, dimension=6, seed=0):
    return numpy.random.default_rng(seed).standard_normal((count, dimension)).astype(numpy.float32)


def as_text(path, words, rows, header):
    lines = [f"{word} {' '.join(f'{value:.6f}' for value in row)}" for word, row in zip(words, rows, strict=True)]
    start = [f"{len(words)} {rows.shape[1]}"] if header else []
    path.write_text("\n".join([*start, *lines]) + "\n", encoding="utf8")


def as_binary(path, words, rows):
    body = b"".join(
        word.encode() + b" " + row.astype("<f4").tobytes() + b"\n" for word, row in zip(words, rows, strict=True)
    )
    path.write_bytes(f"{len(words)} {rows.shape[1]}\n".encode() + body)


def as_fasttext(path, words, rows, buckets, shortest=3, longest=4, quantised=False):
    arguments = struct.pack("<12id", rows.shape[1], 5, 5, 1, 5, 1, 2, 2, len(buckets), shortest, longest, 100, 1e-4)
    dictionary = struct.pack("<iiiqq", len(words), len(words), 0, 1000, -1)
    entries = b"".join(word.encode() + b"\0" + struct.pack("<qb", 5, 0) for word in words)
    matrix = numpy.concatenate([rows, buckets]).astype("<f4")
    shape = struct.pack("<qq", *matrix.shape)
    flag = b"\1" if quantised else b"\0"
    path.write_bytes(
        struct.pack("<ii", 793712314, 12) + arguments + dictionary + entries + flag + shape + matrix.tobytes()
    )


def write(path, kind, words=WORDS, rows=None):
    rows = vectors(len(words)) if rows is None else rows
    if kind == "binary":
        as_binary(path, words, rows)
    else:
        as_text(path, words, rows, kind == "word2vec")
    return path


@pytest.mark.parametrize("kind", ["glove", "word2vec", "binary"])
def test_the_rows_of_a_file(tmp_path, kind):
    opened = open_vectors(write(tmp_path / "v", kind))
    found = list(opened.rows)
    assert [word for word, _ in found] == WORDS
    assert numpy.stack([row for _, row in found]) == pytest.approx(vectors(), abs=1e-5)


@pytest.mark.parametrize("kind", ["glove", "word2vec", "binary"])
def test_a_text_is_the_weighted_mean_of_its_words(store, tmp_path, kind):
    encoder = load_encoder(write(tmp_path / "v.vec", kind))
    assert (encoder.dimension, len(encoder)) == (6, 7)  # a phrase and a full stop stand in no folded text
    rows, shares = vectors(), zipf_shares(7)
    weights = 1e-3 / (1e-3 + shares)
    mean = weights[0] * rows[0] + weights[1] * rows[1] + weights[2] * rows[2]
    assert encoder.encode(["The river: BANK"])[0] == pytest.approx(mean / numpy.linalg.norm(mean), abs=2e-3)


def test_words_without_spaces_are_the_longest_known(store, tmp_path):
    encoder = load_encoder(write(tmp_path / "v.vec", "glove"))
    one, other, unknown = encoder.encode(["北京大学", "北京 大学", "東"])
    assert one == pytest.approx(other)
    assert not unknown.any()
    assert encoder.encode(["京大学"])[0] != pytest.approx(one)


def test_nothing_known_is_zeros_and_order_is_kept(store, tmp_path):
    encoder = load_encoder(write(tmp_path / "v.vec", "glove"))
    found = encoder.encode(["bank", "", "zzz", "bank", "river"])
    assert not found[[1, 2]].any()
    assert (found[0] == found[3]).all()
    assert numpy.linalg.norm(found[[0, 3, 4]], axis=1) == pytest.approx([1, 1, 1], abs=1e-5)


def test_a_file_is_converted_once(store, tmp_path, monkeypatch):
    path = write(tmp_path / "v.vec", "glove")
    first = load_encoder(path)
    monkeypatch.setattr("entlink.encoders.static.loading.open_vectors", None)
    again = load_encoder(path)
    assert again.identity == first.identity
    (card,) = installed()
    assert (card.kind, card.source) == ("static", str(path))
    assert load_encoder(card.name).identity == first.identity


def test_parts_of_words_of_fasttext(store, tmp_path):
    rows, buckets = vectors(3), vectors(50, seed=1)
    as_fasttext(tmp_path / "m.bin", ["</s>", "cat", "dogs"], rows, buckets)
    encoder = load_encoder(tmp_path / "m.bin")

    def parts(word):
        return buckets[gram_ids(word, 3, 4, 50)]

    known = numpy.concatenate([rows[1:2], parts("cat")]).mean(axis=0)
    unknown = parts("catty").mean(axis=0)
    found = encoder.encode(["cat", "catty"])
    assert found[0] == pytest.approx(known / numpy.linalg.norm(known), abs=2e-3)
    assert found[1] == pytest.approx(unknown / numpy.linalg.norm(unknown), abs=2e-3)


def test_parts_of_words_as_fasttext_takes_and_hashes_them():
    # Of <cat>: <ca cat at> and <cat cat>; FNV-1a of "a" is a published number.
    assert len(gram_ids("cat", 3, 4, 1000)) == 5
    assert gram_ids("a", 1, 1, 2**32) == [0xE40C292C]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "no file of word vectors"),
        (b"just some prose that is no vector\n", "no file of word vectors"),
        (b"\x00\x01\x02" * 50, "no file of word vectors"),
        (b"a 1.0 2.0 3.0\nb 1.0 2.0\n", "line 2: 2 numbers where 3 are due"),
        (b"a 1.0 2.0 3.0\nb 1.0 x 3.0\n", "line 2: not a number"),
        (b"a 1.0 2.0 3.0\nb 1.0 nan 3.0\n", "line 2: NaN or infinity"),
        (b"3 2\na 1.0 2.0\nb 1.0 2.0\n", "ends after 2 of 3 words"),
        (b"2 2\na \x00\x00\x80\x3f\x00\x00\x80\x3f\nb \x00\x00", "ends after 1 of 2 words"),
        (b"1 1\na \x00\x00\xc0\x7f\n", "NaN or infinity"),
    ],
)
def test_files_that_are_not_whole(store, tmp_path, data, told):
    path = tmp_path / "bad.vec"
    path.write_bytes(data)
    with pytest.raises(SourceError, match=told) as caught:
        load_encoder(path)
    assert str(path) in str(caught.value)
    assert not store.exists() or not list(store.iterdir())


def test_a_file_without_words(store, tmp_path):
    path = write(tmp_path / "v.vec", "glove", [".", ",", "--"], vectors(3))
    with pytest.raises(InputError, match="no word that could stand in a text"):
        load_encoder(path)


def test_a_quantised_or_cut_fasttext_model(store, tmp_path):
    as_fasttext(tmp_path / "q.bin", ["cat"], vectors(1), vectors(9), quantised=True)
    with pytest.raises(SourceError, match=r"Use its \.vec file"):
        load_encoder(tmp_path / "q.bin")
    as_fasttext(tmp_path / "c.bin", ["cat"], vectors(1), vectors(9))
    data = (tmp_path / "c.bin").read_bytes()
    for size in (20, 90, len(data) - 8):
        (tmp_path / "c.bin").write_bytes(data[:size])
        with pytest.raises(SourceError, match=r"c\.bin: .* \.vec file"):
            load_encoder(tmp_path / "c.bin")


tables = st.dictionaries(
    st.text("abcXYZ北é", min_size=1, max_size=6),
    st.lists(st.floats(-9, 9, width=16), min_size=3, max_size=3),
    min_size=1,
    max_size=9,
)


@settings(max_examples=40)
@given(tables, st.sampled_from(["glove", "word2vec", "binary"]))
def test_what_is_written_is_read_again(tmp_path_factory, table, kind):
    path = tmp_path_factory.mktemp("round") / "v"
    rows = numpy.array(list(table.values()), numpy.float32)
    write(path, kind, list(table), rows)
    found = list(open_vectors(path).rows)
    assert [word for word, _ in found] == list(table)
    assert numpy.stack([row for _, row in found]) == pytest.approx(rows, abs=1e-5)


@settings(max_examples=40)
@given(tables)
def test_every_word_finds_its_own_row(tmp_path_factory, table):
    import marisa_trie

    folder = tmp_path_factory.mktemp("rows")
    rows = [(word, numpy.array(row, numpy.float32)) for word, row in table.items()]
    assert write_vectors(folder, [*rows, *rows], 3, None, StaticSettings()) == len(table)
    trie = marisa_trie.Trie().mmap(str(folder / "words.marisa"))
    written = numpy.load(folder / "vectors.npy")
    for word, row in rows:
        assert written[trie[word]] == pytest.approx(row, abs=1e-2)


def test_runs_and_units():
    assert list(runs("Java编程 is 好!")) == [("java", True), ("编程", False), ("is", True), ("好", False)]
    assert list(bigram_units("在北京大学 study")) == ["在北", "北京", "京大", "大学", "study"]
