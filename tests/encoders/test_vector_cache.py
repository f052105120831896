"""The cache gives what the encoder gives, once; it resumes, never mixes, and never stops the work."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import blake2b

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.encoders import cache as cache_module
from entlink.encoders.cache import VectorCache
from entlink.interfaces import Encoder


class Counting:
    """An encoder of its own: a vector hashed from the text; it counts what it is asked."""

    name = "counting"

    def __init__(self, identity="counting-1", dimension=8, fail_after=None):
        self.identity, self.dimension = identity, dimension
        self.seen, self.fail_after = [], fail_after

    def encode(self, texts):
        if self.fail_after is not None and len(self.seen) >= self.fail_after:
            raise KeyboardInterrupt
        self.seen += texts
        rows = [self._row(text) for text in texts]
        return numpy.array(rows, numpy.float32).reshape(len(texts), self.dimension)

    def _row(self, text):
        if not text.strip():
            return numpy.zeros(self.dimension)
        data = blake2b(f"{self.identity} {text}".encode("utf8", "surrogatepass"), digest_size=self.dimension).digest()
        row = numpy.frombuffer(data, numpy.int8).astype(float) + 0.5
        return row / numpy.linalg.norm(row)


@pytest.fixture(params=["file", "memory"])
def cache(request, tmp_path):
    with VectorCache(tmp_path / "vectors" if request.param == "file" else None, Counting()) as cache:
        yield cache


def test_it_is_an_encoder(cache):
    assert isinstance(cache, Encoder)
    assert (cache.name, cache.identity, cache.dimension) == ("counting", "counting-1", 8)
    assert cache.encode([]).shape == (0, 8)


@settings(max_examples=40)
@given(st.lists(st.text(max_size=5) | st.sampled_from(["a", "b", "\ud800", " "]), max_size=20))
def test_fresh_and_remembered_are_the_same_and_in_order(texts):
    with VectorCache(None, Counting()) as cache:
        fresh = cache.encode(texts)
        assert cache.encode(texts[::-1])[::-1].tobytes() == fresh.tobytes()
        assert fresh == pytest.approx(Counting().encode(texts), abs=1e-3)
        assert sorted(cache.encoder.seen) == sorted(set(texts))


def test_rows_have_unit_length_and_zeros_stay(cache):
    found = cache.encode(["a", " ", "b"])
    assert numpy.linalg.norm(found, axis=1) == pytest.approx([1, 0, 1], abs=1e-6)


def test_it_is_there_for_the_next_process(tmp_path):
    with VectorCache(tmp_path, Counting()) as cache:
        fresh = cache.encode(["a", "b"])
    with VectorCache(tmp_path, Counting()) as again:
        assert (again.encode(["b", "a"])[::-1] == fresh).all()
        assert again.encoder.seen == []
        assert len(again) == 2


def test_an_interrupted_encoding_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "_BATCH", 10)
    texts = [f"text {number}" for number in range(95)]
    with VectorCache(tmp_path, Counting(fail_after=40)) as cache, pytest.raises(KeyboardInterrupt):
        cache.encode(texts)
    told = []
    with VectorCache(tmp_path, Counting()) as again:
        again.encode(texts, progress=lambda *one: told.append(one))
        assert len(again.encoder.seen) == 55
    assert told[0] == ("encoding", 50, 95)
    assert told[-1] == ("encoding", 95, 95)


def test_encoders_do_not_share_a_file(tmp_path):
    encoders = [Counting(), Counting("counting-2"), Counting("counting-1", 4), Counting("a/b c"), Counting("a-b c")]
    for encoder in encoders:
        with VectorCache(tmp_path, encoder) as cache:
            assert cache.encode(["a"]) == pytest.approx(encoder.encode(["a"]), abs=1e-3)
    assert all(len(encoder.seen) == 2 for encoder in encoders)


def test_a_file_of_another_identity_under_this_name_is_put_aside(tmp_path, caplog):
    with VectorCache(tmp_path, Counting("other")) as cache:
        cache.encode(["a"])
        other = cache.path
    with VectorCache(tmp_path, Counting()) as cache:
        path = cache.path
    other.replace(path)
    with VectorCache(tmp_path, Counting()) as cache:
        assert cache.encode(["a"]) == pytest.approx(Counting().encode(["a"]), abs=1e-3)
    assert "it holds vectors of 'other', 8 wide" in caplog.text
    assert path.with_name(f"{path.name}.damaged-1").exists()


@pytest.mark.parametrize("spoil", [lambda data: b"no database at all" * 100, lambda data: data[:50] + b"\xff" * 5000])
def test_a_damaged_file_is_put_aside_and_made_anew(tmp_path, caplog, spoil):
    with VectorCache(tmp_path, Counting()) as cache:
        cache.encode(["a"])
    cache.path.write_bytes(spoil(cache.path.read_bytes()))
    with VectorCache(tmp_path, Counting()) as cache:
        cache.encode(["a"])
    assert "this cache of vectors is damaged" in caplog.text
    with VectorCache(tmp_path, Counting()) as cache:
        cache.encode(["a"])
        assert cache.encoder.seen == []


def test_of_two_processes_that_find_it_damaged_one_puts_it_aside(tmp_path, monkeypatch):
    """The other finds it gone by then."""
    with VectorCache(tmp_path, Counting()) as cache:
        path = cache.path
    path.write_bytes(b"no database, but some bytes of something else" * 100)
    aside = cache_module._put_aside

    def second(path):
        aside(path)
        return aside(path)

    monkeypatch.setattr(cache_module, "_put_aside", second)
    with VectorCache(tmp_path, Counting()) as cache:
        cache.encode(["a"])
    with VectorCache(tmp_path, Counting()) as cache:
        cache.encode(["a"])
        assert cache.encoder.seen == []


def test_a_place_that_cannot_be_written_is_memory_only(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    with VectorCache(tmp_path / "file" / "vectors", Counting()) as cache:
        cache.encode(["a"])
        cache.encode(["a"])
        assert cache.encoder.seen == ["a"]
    assert "they are kept in memory" in caplog.text


def test_that_nothing_can_be_kept_is_told_once_however_many_ask(tmp_path, caplog):
    (tmp_path / "file").write_text("no folder", encoding="utf8")
    for _ in range(3):
        VectorCache(tmp_path / "file" / "cache", Counting()).close()
    assert len(caplog.messages) == 1


def test_a_folder_in_place_of_the_file_is_memory_only(tmp_path, caplog):
    with VectorCache(None, Counting()) as cache:
        pass
    (tmp_path / f"vectors-{cache.identity}.sqlite").mkdir()
    with VectorCache(tmp_path, Counting()) as cache:
        cache.encode(["a"])
    assert "no cache of vectors can be kept here" in caplog.text


def test_a_file_that_goes_bad_meanwhile_does_not_stop_the_work(tmp_path, caplog):
    with VectorCache(tmp_path, Counting()) as cache:
        cache._connection.execute("DROP TABLE vectors")
        assert cache.encode(["a"]) == pytest.approx(Counting().encode(["a"]), abs=1e-3)
        assert "cannot be used on" in caplog.text


def test_memory_is_bounded():
    with VectorCache(None, Counting(), memory_rows=3) as cache:
        cache.encode([str(number) for number in range(10)])
        assert len(cache) == 3
    with VectorCache(None, Counting(), memory_rows=2) as cache:
        cache.encode(["a", "b"])
        cache.encode(["a"])
        cache.encode(["c"])  # b was used longest ago
        cache.encode(["a", "c"])
        assert sorted(cache.encoder.seen) == ["a", "b", "c"]


def test_two_processes_at_once(tmp_path):
    script = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from test_vector_cache import Counting\n"
        "from entlink.encoders import cache\n"
        "cache._BATCH = 7\n"
        "with cache.VectorCache(sys.argv[1], Counting()) as one:\n"
        "    one.encode([f'text {number}' for number in range(400)])\n"
    )
    words = [sys.executable, "-c", script, str(tmp_path), os.path.dirname(__file__)]  # noqa: PTH120
    running = [subprocess.Popen(words, stderr=subprocess.PIPE) for _ in range(3)]
    assert [(process.communicate(timeout=60)[1], process.returncode) for process in running] == [(b"", 0)] * 3
    with VectorCache(tmp_path, Counting()) as cache:
        assert len(cache) == 400
