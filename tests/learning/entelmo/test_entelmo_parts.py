"""The parts of EntELMo against independent ones: the LSTM, the sampled softmax, bags of words, batches."""

from __future__ import annotations

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import functional_call
from torch.nn.functional import cross_entropy

from entlink.encoders.recurrent.words import word_bytes
from entlink.learning.entelmo.batches import make_batch
from entlink.learning.entelmo.losses import at_most, log_uniform_sample, negative_logs
from entlink.learning.entelmo.lstm import ProjectedLstm
from entlink.learning.entelmo.network import SampledLayer


def as_torch(own: ProjectedLstm) -> torch.nn.LSTM:
    """The LSTM of torch with the same weights; its gates are in the order input, forget, new values, output."""
    projection, hidden = own.projection.shape
    theirs = torch.nn.LSTM(own.input.shape[1], hidden, proj_size=projection)
    order = torch.cat(
        [torch.arange(2 * hidden), torch.arange(3 * hidden, 4 * hidden), torch.arange(2 * hidden, 3 * hidden)]
    )
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(own.input[order])
        theirs.weight_hh_l0.copy_(own.recurrent[order])
        theirs.bias_ih_l0.copy_(own.bias[order])
        theirs.bias_hh_l0.zero_()
        theirs.weight_hr_l0.copy_(own.projection)
    return theirs


def test_without_clipping_the_lstm_is_that_of_torch_with_its_gradients():
    torch.manual_seed(1)
    own = ProjectedLstm(3, 5, 2, clip=1e6)
    theirs = as_torch(own)
    rows = [torch.randn(length, 3) for length in (4, 4, 2, 1)]
    packed = torch.nn.utils.rnn.pack_sequence(rows)
    mine = packed.data.clone().requires_grad_()
    given_ = packed._replace(data=packed.data.clone().requires_grad_())
    found, expected = own(mine, packed.batch_sizes.tolist()), theirs(given_)[0].data
    torch.testing.assert_close(found, expected)
    weights = torch.randn_like(found)
    (found * weights).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(mine.grad, given_.data.grad)
    torch.testing.assert_close(own.projection.grad, theirs.weight_hr_l0.grad)


def test_the_gradient_is_right_where_values_are_clipped():
    torch.manual_seed(0)
    lstm = ProjectedLstm(3, 4, 2, clip=0.3).double()
    sizes = [4, 4, 3, 1]
    names = [name for name, _ in lstm.named_parameters()]

    def run(rows, *weights):
        return functional_call(lstm, dict(zip(names, weights, strict=True)), (rows, sizes))

    rows = 2 * torch.randn(sum(sizes), 3, dtype=torch.double)
    weights = [one.detach().clone().requires_grad_() for one in lstm.parameters()]
    assert (run(rows, *weights).abs() >= 0.3).any()
    assert torch.autograd.gradcheck(run, (rows.requires_grad_(), *weights))


def layer(words: int, width: int) -> SampledLayer:
    made = SampledLayer(torch.arange(words, 0, -1), width)
    torch.nn.init.normal_(made.weight)
    return made


def test_a_sample_of_all_words_is_the_softmax_itself():
    torch.manual_seed(0)
    one, states, targets = layer(30, 5), torch.randn(12, 5), torch.randint(30, (12,))
    found = negative_logs(one, states, torch.arange(12), targets, log_uniform_sample(30, 30))
    expected = cross_entropy(states @ one.weight.T + one.bias, targets, reduction="none")
    torch.testing.assert_close(found, expected)


def test_sampled_softmax_is_what_its_formula_says():
    """Scores less the logarithm of how often a word was expected, over the drawn words and the target, once each."""
    torch.manual_seed(0)
    one, states, targets = layer(30, 5), torch.randn(12, 5), torch.randint(30, (12,))
    sample = log_uniform_sample(30, 9)
    assert len(sample.words) == 9 and 0 < sample.is_drawn[targets].sum() < 12
    scores = (states @ one.weight.T + one.bias - sample.correction).detach().double().numpy()
    found = negative_logs(one, states, torch.arange(12), targets, sample).detach().numpy()
    for row, target in enumerate(targets.tolist()):
        compared = {*sample.words.tolist(), target}
        expected = numpy.log(sum(numpy.exp(scores[row, word]) for word in compared)) - scores[row, target]
        assert found[row] == pytest.approx(expected, rel=1e-5)


def test_the_mean_gradient_of_samples_comes_near_the_true_one():
    """Half of the words drawn each time: on average the gradient points where that of the softmax does."""
    torch.manual_seed(0)
    one, states, targets = layer(40, 6), torch.randn(50, 6), torch.randint(40, (50,))
    cross_entropy(states @ one.weight.T + one.bias, targets).backward()
    true, one.weight.grad = one.weight.grad.clone(), None
    for _ in range(60):
        negative_logs(one, states, torch.arange(50), targets, log_uniform_sample(40, 20)).mean().backward()
    assert torch.cosine_similarity(one.weight.grad.flatten(), true.flatten(), dim=0) > 0.95


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 60), st.integers(1, 59), st.integers(0, 1000))
def test_a_sample_has_so_many_different_words(words, size, seed):
    torch.manual_seed(seed)
    size = min(size, words - 1)
    sample = log_uniform_sample(words, size)
    assert len(set(sample.words.tolist())) == size == int(sample.is_drawn.sum())
    chances = sample.correction.double().exp()
    assert ((chances > 0) & (chances <= 1)).all()
    assert (chances.diff() <= 1e-6).all()  # the more frequent, the likelier


def test_words_are_drawn_about_as_often_as_is_corrected_for():
    torch.manual_seed(0)
    drawn = torch.stack([log_uniform_sample(50, 12).is_drawn for _ in range(1500)]).double().mean(dim=0)
    expected = torch.stack([log_uniform_sample(50, 12).correction.exp() for _ in range(300)]).double().mean(dim=0)
    assert (drawn - expected).abs().max() < 0.05


@given(st.lists(st.integers(0, 5), max_size=40).map(sorted), st.integers(1, 6))
def test_at_most_so_many_of_each_row_are_taken(rows, most):
    taken = at_most(torch.tensor(rows, dtype=torch.long), most).tolist()
    assert taken == sorted(set(taken))
    for row in set(rows):
        assert sum(rows[place] == row for place in taken) == min(most, rows.count(row))


def test_which_are_taken_is_chance():
    rows = torch.zeros(10, dtype=torch.long)
    torch.manual_seed(0)
    assert len({tuple(at_most(rows, 3).tolist()) for _ in range(20)}) > 10


@given(st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=7), min_size=1, max_size=6))
def test_both_directions_read_every_token_of_a_row_in_its_order(texts):
    table = word_bytes([str(number) for number in range(7)], 4)
    batch = make_batch([numpy.array(one, numpy.int32) for one in texts], table)
    flat = [token for one in texts for token in one]
    assert [table.tolist().index(row) for row in batch.bytes[batch.forms].tolist()] == flat
    for order, turned in ((batch.forward, 1), (batch.backward, -1)):
        read: dict[int, list[int]] = {}
        for place in order.tolist():
            read.setdefault(int(batch.rows[place]), []).append(flat[place])
        assert [read[row] for row in range(len(texts))] == [one[::turned] for one in texts]
    assert sum(batch.sizes) == len(flat) and batch.sizes == sorted(batch.sizes, reverse=True)
    assert len(batch.next_ones) == len(flat) - len(texts)
