"""Encoders on the sample tasks: from texts to results, tables and the page; and what is no use to a probe."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy
import pytest

from entlink.documents import Span
from entlink.errors import InputError, SourceError
from entlink.evaluation.probes import ProbeOptions, probe, read_result, read_results, read_task, write_result
from entlink.evaluation.probes.inputs import Reading, _Texts
from entlink.evaluation.probes.page import csv_text, probe_page
from entlink.evaluation.probes.problems import Choice, limited
from entlink.evaluation.probes.tables import families_table, inputs_table, layers_table, tables, tasks_table
from entlink.evaluation.published import PublishedFigure
from entlink.formats.probes import ProbeEntity, ProbeExample, ProbeTask

SAMPLES = Path(__file__).parents[3] / "samples" / "probes"
KINDS, LIKENESS, TYPES, WHICH = (read_task(SAMPLES / name) for name in ("kinds", "likeness", "types", "which"))
QUICK = ProbeOptions(seeds=2, rounds=50)


@pytest.mark.parametrize("layers", [(), (0, 0)])
def test_layers_are_some_and_each_once(layers):
    with pytest.raises(InputError, match="each layer once"):
        ProbeOptions(layers=layers)


BIRDS = ("heron", "owl", "duck", "wren")


class Knowing:
    """Three layers, of which the last knows what is a bird; layers before are noise, the same for the same text."""

    name = identity = "knowing"
    layers, dimension, mixing = 3, 4, "softmax"

    def _vectors(self, texts, names):
        found = numpy.zeros((3, len(texts), 4), numpy.float32)
        for row, (text, name) in enumerate(zip(texts, names, strict=True)):
            noise = numpy.random.default_rng(len(text)).standard_normal((3, 4))
            found[:, row] = 0.1 * noise
            found[2, row, 0] = 1.0 if any(bird in name.lower() for bird in BIRDS) else -1.0
            found[2, row, 1 + len(name) % 3] += 0.5
        return found

    def encode_contexts(self, contexts):
        return self._vectors([text for text, _ in contexts], [text[span.start : span.end] for text, span in contexts])

    def encode_descriptions(self, texts):
        return self._vectors(texts, [" ".join(text.split()[:2]) for text in texts])


def results(encoder, tasks, options=QUICK, **more):
    return list(probe(encoder, tasks, options, **more))


@pytest.fixture(scope="module")
def known():
    return results(Knowing(), [KINDS, LIKENESS, TYPES, WHICH], ProbeOptions("all", seeds=2, rounds=50, names=True))


def test_the_layer_that_knows_scores_and_the_mix_finds_it(known):
    by_layer = {run.layer: run for run in known[0].runs}
    assert list(by_layer) == ["mix", "0", "1", "2"]
    assert by_layer["2"].score == by_layer["mix"].score == 1.0
    assert by_layer["0"].score < 1.0
    weights = numpy.abs(by_layer["mix"].weights)
    assert weights.argmax() == 2
    assert by_layer["2"].interval.low == 1.0 and len(by_layer["2"].seeds) == 2


def test_each_kind_of_task_has_its_score_and_what_takes_no_encoder(known):
    kinds, likeness, types, which = (one.main for one in known)
    assert kinds.also.keys() == {"most frequent label"}
    assert likeness.seeds == (likeness.score,) and likeness.strength is None
    assert types.threshold is not None and types.also["recall at best, by labels seen in training"] == 1.0
    assert which.also.keys() == {"prior alone", "classifier alone", "chance"}
    names = {run.text for run in known[3].runs}
    assert names == {"description", "name"}


def test_the_same_seed_gives_the_same_result(known):
    def scores(result):
        return [msgspec.structs.replace(run, seconds=0.0) for run in result.runs]

    again = results(Knowing(), [KINDS], known[0].options)
    assert scores(again[0]) == scores(known[0])


def test_the_prior_alone_is_counted_by_hand():
    """A gold without a prior gets next to nothing of it."""
    entity, mention = ProbeEntity(title="x"), ProbeEntity(sentence="x", start=0, end=1)

    def row(priors, gold):
        return ProbeExample((mention,), candidates=(entity,) * len(priors), priors=priors, gold=gold)

    rows = (row((0.2, 0.1), 0), row((0.2, 0.1), 1), row((0.5, None), 1), row((0.3, 0.3), 0))
    task = ProbeTask(WHICH.card, {"test": rows})
    texts = _Texts(Reading("context-description"))
    places = {"test": texts.moved(texts.places(rows))}
    also = Choice(task, places).also("test", numpy.zeros((8, 1)), None)
    assert also["prior alone"] == (1 + 0 + 0 + 0.5) / 4
    assert also["chance"] == 0.5


def test_at_most_so_many_candidates_and_always_the_gold():
    candidates = tuple(ProbeEntity(title=str(number)) for number in range(6))
    row = ProbeExample((), candidates=candidates, priors=(0.1, 0.3, None, 0.2, 0.05, 0.01), gold=2)
    cut = limited(ProbeTask(WHICH.card, {"test": (row,)}), 3).splits["test"][0]
    assert [one.title for one in cut.candidates] == ["1", "2", "3"]
    assert (cut.priors, cut.gold) == ((0.3, None, 0.2), 1)


def test_texts_are_lower_cased_cut_and_encoded_once():
    entity = ProbeEntity(entity="q", title="Grey Heron", description="The Grey Heron is a BIRD of ponds")
    texts = _Texts(Reading("context-description", "description", True, words=4))
    mention = ProbeEntity(sentence="A Grey HERON", start=2, end=12)
    row = ProbeExample((mention,), candidates=(entity, entity), gold=0)
    texts.places([row, row])
    assert texts.contexts == {("a grey heron", Span(2, 12)): 0}
    assert texts.texts == {"the grey heron is": 0}
    by_name = _Texts(Reading("context-description", "name", False))
    by_name.places([row])
    assert list(by_name.texts) == ["Grey Heron"]


def test_vectors_are_kept_for_the_next_run(tmp_path):
    first, second = (results(Knowing(), [KINDS, TYPES], cache=tmp_path)[0] for _ in range(2))
    assert first.encoded == 8 and second.encoded == 0
    assert second.main.score == first.main.score


def scored(scores, heads, published=""):
    card = msgspec.structs.replace(LIKENESS.card, published=published)
    rows = [
        msgspec.structs.replace(row, score=score, head=head)
        for row, score, head in zip(LIKENESS.splits["test"], scores, heads, strict=False)
    ]
    return ProbeTask(card, {"test": tuple(rows)})


def test_a_task_of_the_paper_is_ranked_as_a_whole_and_others_by_head():
    pairs = ([1.0, 2.0, 4.0, 3.0, 1.0, 2.0], "aaabbb")
    ours, theirs = (one.main for one in results(Knowing(), [scored(*pairs), scored(*pairs, "kore")]))
    assert ours.also == theirs.also
    whole, mean = ours.also["Spearman, all pairs"], ours.also["Spearman, mean over heads"]
    assert whole != pytest.approx(mean)
    assert (theirs.score, ours.score) == (pytest.approx(whole), pytest.approx(mean))


def test_similarity_that_has_no_order_is_not_scored_in_silence():
    for scores, heads in (([1.0, 2.0, 3.0], "abc"), ([1.0], " "), ([2.0, 2.0], "  ")):
        with pytest.raises(InputError, match="no head has two pairs with different scores"):
            results(Knowing(), [scored(scores, heads)])
    for heads in ("      ", "aaabbb"):
        same = Broken(lambda found: found * 0 + 1)
        found = results(same, [scored([1.0, 2.0, 4.0, 3.0, 1.0, 2.0], heads)])[0]
        assert found.main.score == 0.0 and "all cosines of the descriptions are the same" in found.notes[-1]


class Broken(Knowing):
    def __init__(self, value):
        self.value = value
        self.identity = ""

    def _vectors(self, texts, names):
        return self.value(super()._vectors(texts, names))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda found: found * numpy.nan, "NaN or infinity for 8 of 8 texts"),
        (lambda found: found[:, :, :2], r"gave an array of \(3, 8, 2\) where one of \(3, 8, 4\)"),
        (lambda found: found[:, 1:], "where one of"),
        (lambda found: found * 0, "gave only zeros for the task 'kinds'"),
    ],
)
def test_encoders_that_give_no_use(value, message):
    with pytest.raises(InputError, match=message):
        results(Broken(value), [KINDS])


def test_a_layer_that_is_not_there_and_options_out_of_range():
    with pytest.raises(InputError, match="there is no layer 3: 'knowing' has 3"):
        results(Knowing(), [KINDS], ProbeOptions(layers=(3,)))
    with pytest.raises(InputError, match="seeds = 0 is too small"):
        ProbeOptions(seeds=0)


def test_a_task_without_most_descriptions_says_so():
    bare = tuple(
        msgspec.structs.replace(
            row, entities=tuple(msgspec.structs.replace(one, description="") for one in row.entities)
        )
        for row in LIKENESS.splits["test"]
    )
    card = msgspec.structs.replace(LIKENESS.card, covered=28, of=40)
    found = results(Knowing(), [ProbeTask(card, {"test": bare})])[0]
    assert found.notes == (
        "28 of the 40 rows of the source are covered",
        "8 of 8 entities have no description, and their title is read, so that this says little of descriptions",
    )


def test_a_result_comes_back_as_it_was_written(known, tmp_path):
    for one in known:
        write_result(tmp_path / "knowing" / f"{one.card.name}.json", one)
    assert read_result(tmp_path / "knowing" / "kinds.json") == known[0]
    assert {one.card.name for one in read_results([tmp_path])} == {"kinds", "likeness", "types", "which"}
    (tmp_path / "other.json").write_text("{}")
    assert read_results([tmp_path]) is None
    with pytest.raises(SourceError, match="no saved result of a probe"):
        read_result(tmp_path / "other.json")


def figure(table, system, value, **where):
    return PublishedFigure(
        paper="enteval",
        table=table,
        kind="results",
        system=system,
        where=where,
        value=value,
        decimals=1,
        unit="percent",
    )


def renamed(result, encoder, **card):
    return msgspec.structs.replace(result, encoder=encoder, card=msgspec.structs.replace(result.card, **card))


def test_published_rows_stand_beside_what_was_built_alike_only(known):
    figures = [figure("3", "ELMo", 80.2, task="cap"), figure("3", "ELMo", 35.6, task="et")]
    assert len(families_table(known, figures).groups) == 1
    same = renamed(known[0], "knowing", published="cap same")
    assert len(families_table([same, *known[1:]], figures).groups) == 1  # the paper's CAP is of two tasks
    following = renamed(known[0], "knowing", published="cap next", name="next")
    table = families_table([same, following, *known[1:]], figures)
    assert table.groups[1].rows == [("ELMo", pytest.approx(0.802), None, None, None, None)]
    ours = table.groups[0].rows[0]
    assert ours[0] == "knowing" and ours[-1] == pytest.approx(sum(one.main.score for one in known) / 4)


def test_a_family_is_the_mean_of_the_tasks_that_all_encoders_have(known):
    more = renamed(known[1], "knowing", name="more", family="cap")
    less = renamed(known[1], "less", name="more", family="cap")
    score = known[1].main.score
    assert families_table([known[0], more, less]).groups[0].rows == [
        ("knowing", *[score] * 2),
        ("less", *[score] * 2),
    ]
    assert families_table([known[0], less]).groups[0].rows == [("knowing", None, None), ("less", None, None)]


def test_f1_of_one_label_is_not_called_micro(known):
    rows = tasks_table([renamed(known[0], "knowing", metric="f1"), known[2]]).groups[0].rows
    assert [row[:2] for row in rows] == [("kinds", "F1"), ("types", "micro F1")]


def test_two_models_of_one_name_are_not_merged(known):
    other = msgspec.structs.replace(known[0], identity="else")
    families = tables([*known, other])[0]
    assert [row[0] for row in families.groups[0].rows] == ["knowing (knowing)", "knowing (else)"]
    assert "kinds,knowing (else),context" in csv_text([*known, other])
    assert "knowing (else)" in probe_page([*known, other])
    with pytest.raises(InputError, match="two results are of 'knowing' on the task 'kinds'"):
        tables([*known, known[0]])


def test_descriptions_beside_names_as_in_table_4(known):
    figures = [
        figure("4", "ELMo", 63.4, task="conll", encoded="description"),
        figure("5", "Deep ED", 66.7, task="conll"),
    ]
    table = inputs_table(known, figures)
    row = next(row for row in table.groups[0].rows if row[0] == "which")
    assert row[2].value == known[3].main.score and row[4] is None
    assert table.groups[1].rows == [("conll", "ELMo", 0.634, None, None), ("conll", "Deep ED", None, None, 0.667)]


def test_the_page_has_a_map_of_layers(known):
    assert layers_table(known, "knowing").columns == ("task", "0", "1", "2", "mix")
    page = probe_page(known)
    assert "Layers of knowing" in page
    assert '<td class="r20">1.000</td>' in page and 'class="r0"' in page  # the best layer, and the worst
    assert csv_text(known).count("\n") == 1 + sum(1 + len(run.also) for one in known for run in one.runs)


def test_a_candidate_is_read_in_its_own_sentence_where_it_has_one():
    blank = ProbeEntity(sentence="A ___ sang", start=2, end=5)
    wren = ProbeEntity(title="Wren", sentence="A wren sang", start=2, end=6)
    row = ProbeExample((blank,), candidates=(wren, ProbeEntity(title="Owl")), gold=0)
    texts = _Texts(Reading("context-description"))
    places = texts.moved(texts.places([row]))
    contexts = list(texts.contexts)
    assert [contexts[place][0] for place in places.left] == ["a wren sang", "a ___ sang"]


def test_vectors_of_entities_stand_for_candidates(tmp_path):
    """Table 5: the file says of each entity which kind it is, and the map brings that to the mention's vector."""
    names = list(dict.fromkeys(one.entity for row in WHICH.splits["train"] for one in row.candidates))
    path = tmp_path / "entities.txt"
    own = {name: numpy.eye(len(names))[at] for at, name in enumerate(names) if name != "wye"}
    path.write_text("".join(f"{name} {' '.join(map(str, row))}\n" for name, row in own.items()))
    found = results(Knowing(), [WHICH], msgspec.structs.replace(QUICK, entity_vectors=str(path)))[0]
    assert [run.text for run in found.runs] == ["description", "vectors"]
    assert found.notes[-1] == "the file of entity vectors has 7 of 8 candidates"
    assert found.runs[1].also["classifier alone"] > found.runs[1].also["chance"]
    path.write_text("somebody 1 2 3\nelse 1 2 3\n")
    with pytest.raises(InputError, match="a vector for none of the 8 entities"):
        results(Knowing(), [WHICH], msgspec.structs.replace(QUICK, entity_vectors=str(path)))
