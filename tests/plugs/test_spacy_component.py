from __future__ import annotations

import importlib
import pickle
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink import Document, Linker
from entlink.errors import ConfigError, MissingExtraError, NotFoundError

spacy = pytest.importorskip("spacy", reason="spaCy is not installed (the extra `spacy`)")

from spacy.tokenizer import Tokenizer  # noqa: E402
from spacy.tokens import Doc, DocBin, Span  # noqa: E402

TEXT = "Mercury is near the Sun, and Freddie Mercury lived in London."
NIL_ABOVE_PRIOR = '[nil]\nname = "threshold"\nthreshold = 0.7\n'


@pytest.fixture
def pipeline(toy: Path):
    """Make a blank pipeline with the component, and close what was opened at the end."""
    made = []

    def pipeline(language: str = "en", ents: dict[str, str] | None = None, **config: object):
        nlp = spacy.blank(language)
        if ents:
            ruler = nlp.add_pipe("entity_ruler")
            ruler.add_patterns([{"label": label, "pattern": text} for text, label in ents.items()])
        made.append(nlp.add_pipe("entlink", config={"kb": str(toy), "linker_config": "lexical", **config}))
        return nlp

    yield pipeline
    for component in made:
        component.close()


def ents_of(doc: Doc) -> list[tuple[str, str, str]]:
    return [(ent.text, ent.label_, ent.kb_id_) for ent in doc.ents]


class TestDetect:
    def test_ents_have_the_entity_and_its_first_type(self, pipeline):
        doc = pipeline()(TEXT)
        assert ents_of(doc) == [
            ("Mercury", "planet", "mercury-planet"),
            ("Sun", "star", "sun"),
            ("Freddie Mercury", "person", "freddie-mercury"),
            ("London", "city", "london"),
        ]
        assert doc[0].ent_kb_id_ == "mercury-planet"

    def test_extensions_give_what_the_linker_gave(self, pipeline, linker: Linker):
        doc = pipeline()(TEXT)
        expected = linker.link(Document("doc", TEXT, language="en"))
        assert doc._.entlink == expected
        assert [span._.entlink for span in doc.spans["entlink"]] == list(expected.links)
        assert [ent._.entlink for ent in doc.ents] == list(expected.links)

    def test_extensions_are_none_where_nothing_was_linked(self, pipeline):
        doc = pipeline()(TEXT)
        assert doc[1:3]._.entlink is None
        unlinked = spacy.blank("en")(TEXT)
        assert unlinked._.entlink is None
        assert unlinked[0:1]._.entlink is None

    def test_empty_text(self, pipeline):
        doc = pipeline()("")
        assert doc.ents == ()
        assert doc._.entlink.links == ()

    def test_nil_is_a_span_but_no_ent(self, pipeline, tmp_path: Path):
        config = tmp_path / "linker.toml"
        config.write_text(NIL_ABOVE_PRIOR)
        doc = pipeline(linker_config=str(config))("Mercury and London")
        assert [(span.text, span.kb_id_) for span in doc.spans["entlink"]] == [
            ("Mercury", "NIL"),
            ("London", "london"),
        ]
        assert doc.spans["entlink"][0]._.entlink.is_nil
        assert ents_of(doc) == [("London", "city", "london")]

    def test_chinese_by_characters(self, pipeline):
        doc = pipeline("zh", linker_config=None)("我在北京市。")
        assert ents_of(doc) == [("北京市", "city", "beijing")]
        assert doc._.entlink.language == "zh"

    def test_names_inside_one_token_share_it(self, pipeline):
        nlp = pipeline(linker_config=None)
        nlp.tokenizer = Tokenizer(nlp.vocab)
        doc = nlp("From London/Paris, then.")
        assert [(span.text, span.kb_id_) for span in doc.spans["entlink"]] == [
            ("London/Paris,", "london"),
            ("London/Paris,", "paris"),
        ]
        assert len(doc.ents) == 1
        assert [link.mention.text for link in doc._.entlink.links] == ["London", "Paris"]

    def test_a_shared_token_shows_the_link_that_is_not_nil(self, pipeline, tmp_path: Path):
        config = tmp_path / "linker.toml"
        config.write_text(NIL_ABOVE_PRIOR)
        nlp = pipeline(linker_config=str(config))
        nlp.tokenizer = Tokenizer(nlp.vocab)
        for text in ("London/Mercury", "Mercury/London"):
            (ent,) = nlp(text).ents
            assert ent._.entlink.entity == "london"

    def test_types_min_score_and_date(self, pipeline):
        assert ents_of(pipeline(types=["city"])(TEXT)) == [("London", "city", "london")]
        assert [ent.text for ent in pipeline(min_score=0.9)(TEXT).ents] == ["Sun", "Freddie Mercury", "London"]
        (then,) = pipeline(as_of="2010-01-01")("Swaziland")._.entlink.links
        (now,) = pipeline()("Swaziland")._.entlink.links
        assert (then.title, now.title) == ("Swaziland", "Eswatini")


class TestEntsBefore:
    ENTS = {"the Sun": "BODY", "London": "GPE", "lived": "VERB"}  # noqa: RUF012

    def test_they_stay_and_the_same_tokens_are_linked(self, pipeline):
        assert ents_of(pipeline(ents=self.ENTS)(TEXT)) == [
            ("Mercury", "planet", "mercury-planet"),
            ("the Sun", "BODY", ""),
            ("Freddie Mercury", "person", "freddie-mercury"),
            ("lived", "VERB", ""),
            ("London", "GPE", "london"),
        ]

    def test_with_overwrite_those_in_the_way_go(self, pipeline):
        assert ents_of(pipeline(ents=self.ENTS, overwrite_ents=True)(TEXT)) == [
            ("Mercury", "planet", "mercury-planet"),
            ("Sun", "star", "sun"),
            ("Freddie Mercury", "person", "freddie-mercury"),
            ("lived", "VERB", ""),
            ("London", "city", "london"),
        ]

    @pytest.mark.parametrize("mentions", ["detect", "entities"])
    @pytest.mark.parametrize(("overwrite", "expected"), [(False, "own"), (True, "london")])
    def test_a_link_set_before(self, pipeline, mentions, overwrite, expected):
        nlp = pipeline(mentions=mentions, overwrite_ents=overwrite)
        doc = nlp.make_doc("London calling")
        doc.ents = [Span(doc, 0, 1, label="GPE", kb_id="own", span_id="x1")]
        (ent,) = nlp(doc).ents
        assert ent.kb_id_ == expected


class TestEntities:
    ENTS = {"Queen": "ORG", "Mercury": "PERSON", "Atlantis": "GPE"}  # noqa: RUF012

    def test_only_ents_are_linked_and_keep_label_and_id(self, pipeline):
        nlp = pipeline(mentions="entities")
        doc = nlp.make_doc("Queen in London")
        doc.ents = [Span(doc, 0, 1, label="ORG", span_id="x1")]
        doc = nlp(doc)
        assert ents_of(doc) == [("Queen", "ORG", "queen-band")]
        assert doc.ents[0].id_ == "x1"
        assert doc._.entlink.mentions[0].type == "ORG"

    def test_nil_is_typed_by_the_label(self, pipeline):
        doc = pipeline(mentions="entities", ents=self.ENTS)("Queen sang of Atlantis in Paris")
        assert ents_of(doc) == [("Queen", "ORG", "queen-band"), ("Atlantis", "GPE", "NIL")]
        link = doc.ents[1]._.entlink
        assert (link.entity, link.nil_type) == (None, "GPE")

    def test_a_weak_link_leaves_the_ent_as_it_was(self, pipeline):
        doc = pipeline(mentions="entities", ents=self.ENTS, min_score=0.9)("Mercury of Queen")
        assert ents_of(doc) == [("Mercury", "PERSON", ""), ("Queen", "ORG", "queen-band")]

    def test_no_ents_no_links(self, pipeline):
        doc = pipeline(mentions="entities")(TEXT)
        assert doc.ents == ()
        assert doc._.entlink.links == ()


class RecordingDetector:
    """Passes on to a detector and keeps the sizes of the batches."""

    def __init__(self, detector) -> None:
        self.detector, self.sizes = detector, []

    def detect(self, documents):
        self.sizes.append(len(documents))
        return self.detector.detect(documents)


class TestPipe:
    TEXTS = (TEXT, "", "Paris, Texas", "nothing here", "Beijing")

    def test_gives_what_calls_give(self, pipeline):
        nlp = pipeline()
        together = list(nlp.pipe(self.TEXTS, batch_size=2))
        apart = [nlp(text) for text in self.TEXTS]
        assert [ents_of(doc) for doc in together] == [ents_of(doc) for doc in apart]
        assert [doc._.entlink for doc in together] == [doc._.entlink for doc in apart]

    def test_is_batched(self, pipeline):
        nlp = pipeline()
        linker = nlp.get_pipe("entlink").linker
        linker.detector = recording = RecordingDetector(linker.detector)
        assert len(list(nlp.pipe(self.TEXTS, batch_size=2))) == 5
        assert recording.sizes == [2, 2, 1]

    def test_is_lazy(self, pipeline):
        nlp = pipeline()
        taken = []

        def texts():
            for text in self.TEXTS:
                taken.append(text)
                yield text

        next(iter(nlp.pipe(texts(), batch_size=2)))
        assert len(taken) < len(self.TEXTS)

    # A pool of threads, such as that of Polars, may be alive in the test process.
    @pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
    def test_in_several_processes(self, pipeline):
        nlp = pipeline()
        docs = list(nlp.pipe(self.TEXTS, batch_size=2, n_process=2))
        assert [ents_of(doc) for doc in docs] == [ents_of(nlp(text)) for text in self.TEXTS]
        assert docs[0].ents[0]._.entlink.entity == "mercury-planet"

    def test_in_another_thread(self, pipeline):
        nlp = pipeline()
        found = []

        def work() -> None:
            found.extend(ents_of(nlp("London")))
            nlp.get_pipe("entlink").close()

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert found == ents_of(nlp("London")) == [("London", "city", "london")]


class TestSaving:
    def test_a_pipeline_on_disk(self, pipeline, tmp_path: Path):
        nlp = pipeline(ents={"Queen": "ORG"}, mentions="entities", min_score=0.1)
        nlp.to_disk(tmp_path / "model")
        loaded = spacy.load(tmp_path / "model")
        assert loaded.get_pipe("entlink").settings == nlp.get_pipe("entlink").settings
        assert ents_of(loaded("Queen")) == [("Queen", "ORG", "queen-band")]
        loaded.get_pipe("entlink").close()

    def test_the_knowledge_base_may_have_moved(self, pipeline, toy: Path, tmp_path: Path):
        nlp = pipeline()
        nlp.to_disk(tmp_path / "model")
        moved = tmp_path / "moved.kb"
        moved.symlink_to(toy)
        loaded = spacy.load(tmp_path / "model", config={"components.entlink.kb": str(moved)})
        assert loaded.get_pipe("entlink").settings.kb == str(moved)
        assert loaded("London").ents[0].kb_id_ == "london"
        loaded.get_pipe("entlink").close()

    @pytest.mark.parametrize("way", ["bytes", "disk"])
    def test_a_component_without_knowledge_base_takes_the_saved_settings(self, pipeline, tmp_path: Path, way):
        nlp = pipeline(types=["city"], overwrite_ents=True)
        empty = spacy.blank("en")
        component = empty.add_pipe("entlink")
        if way == "bytes":
            empty.from_bytes(nlp.to_bytes())
        else:
            nlp.to_disk(tmp_path / "model")
            empty.from_disk(tmp_path / "model")
        assert component.settings == nlp.get_pipe("entlink").settings
        assert ents_of(empty(TEXT)) == [("London", "city", "london")]
        component.close()

    def test_a_pickled_pipeline(self, pipeline):
        copy = pickle.loads(pickle.dumps(pipeline(types=["star"])))
        assert ents_of(copy(TEXT)) == [("Sun", "star", "sun")]
        copy.get_pipe("entlink").close()

    def test_a_saved_doc_keeps_its_links(self, pipeline):
        doc = pipeline()(TEXT)
        copy = Doc(doc.vocab).from_bytes(doc.to_bytes())
        (binned,) = DocBin(docs=[doc], store_user_data=True).get_docs(doc.vocab)
        for other in (copy, binned):
            assert other._.entlink == doc._.entlink
            assert other.ents[1]._.entlink == doc.ents[1]._.entlink


class TestErrors:
    def test_no_such_knowledge_base_is_told_at_once(self):
        with pytest.raises(NotFoundError, match=r"nowhere\.kb"):
            spacy.blank("en").add_pipe("entlink", config={"kb": "nowhere.kb"})

    def test_no_knowledge_base_is_told_at_the_first_text(self):
        nlp = spacy.blank("en")
        nlp.add_pipe("entlink")
        with pytest.raises(ConfigError, match=r'config=\{"kb"'):
            nlp("London")

    def test_unknown_kind_of_mentions(self, pipeline):
        with pytest.raises(ConfigError, match='"detect" or "entities"'):
            pipeline(mentions="ents")

    def test_spacy_is_told_what_is_assigned(self, pipeline):
        nlp = pipeline()
        assigned = nlp.analyze_pipes()["summary"]["entlink"]["assigns"]
        assert {"doc.ents", "doc._.entlink", "span._.entlink", "token.ent_kb_id"} <= set(assigned)

    def test_without_spacy_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.delitem(sys.modules, "entlink.plugs.spacy", raising=False)
        monkeypatch.setitem(sys.modules, "spacy.language", None)
        with pytest.raises(MissingExtraError, match=r"entlink\[spacy\]"):
            importlib.import_module("entlink.plugs.spacy")


PIECES = ["Mercury", "Paris, Texas", "北京", "Sun", " ", "-", ".", "x", "\n", "😀", "é", "Queen's", "/"]


@pytest.fixture(scope="module")
def shared_pipeline(toy: Path):
    nlp = spacy.blank("en")
    component = nlp.add_pipe("entlink", config={"kb": str(toy)})
    yield nlp
    component.close()


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_every_span_covers_its_mention(shared_pipeline, text: str):
    doc = shared_pipeline(text)
    links = doc._.entlink.links
    assert len(doc.spans["entlink"]) == len(links)
    for span, link in zip(doc.spans["entlink"], links, strict=True):
        assert span.start_char <= link.mention.span.start < link.mention.span.end <= span.end_char
        assert link.mention.text in span.text
    assert {ent.kb_id_ for ent in doc.ents} <= {link.entity for link in links}
