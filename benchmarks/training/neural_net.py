"""Train the neural net with Adam, on whole pages.

The loss covers the classification of each block, and the F1 of the page's selection computed with
probabilities instead of a yes or no.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray

from benchmarks.training.augmentation import Matrix, Table
from benchmarks.training.batches import FILLED, PAGES, Batch, Batches, Usual
from benchmarks.training.table import Row
from scraper.extract.content.class_name_features import TAGS
from scraper.extract.content.neural_net import (
    NORM_EPSILON,
    SPAN_COUNT,
    WEIGHT_EPSILON,
    ContextLayerWeights,
    NeuralNetWeights,
)

_AVERAGED = 0.99
"""Factor of the moving average of the weights, which spans about the last hundred steps."""


_ADAM = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam())


@dataclass(frozen=True, slots=True)
class Settings:
    """Size of the net, and settings of the training."""

    width: int = 96
    rounds: int = 2
    epochs: int = 16
    rate: float = 3e-3
    decay: float = 1e-2
    dropped: float = 0.4
    choice: float = 0.3
    """Weight of the selection's F1 in the loss, beside the loss of the blocks."""
    blocks: int = 4096
    """Blocks in a batch; pages with more blocks are not used for training."""
    seed: int = 0


class _Round(NamedTuple):
    scale: Array
    own: Array
    context: Array
    bias: Array


class _Learned(NamedTuple):
    columns: Array
    tags: Array
    bias: Array
    rounds: tuple[_Round, ...]
    out: Array
    out_bias: Array


def fit(rows: Sequence[Row], table: Table, costs: Matrix, pages: Sequence[int], settings: Settings) -> NeuralNetWeights:
    """Train a net on some pages; `costs` is the weight of each block of the table."""
    usual = Usual.of(table.learned(), [table.slices[n] for n in pages])
    batches = Batches(rows, table, usual, costs, settings.blocks)
    short = [n for n in pages if rows[n].measures.n < settings.blocks]
    rng = np.random.default_rng(settings.seed)
    key = jax.random.key(settings.seed)
    blocks = sum(rows[n].measures.n for n in short)
    steps = settings.epochs * round(blocks / settings.blocks / FILLED + 1)
    rate = optax.warmup_cosine_decay_schedule(0, settings.rate, steps // 20 + 1, steps + 1, settings.rate / 100)
    learned = _start(key, len(table.names), settings)
    state, mean = _ADAM.init(learned), learned
    done = 0
    for _ in range(settings.epochs):
        for batch in batches.once(short, rng):
            key, own = jax.random.split(key)
            learned, mean, state = _step(learned, mean, state, batch, own, rate(done), settings)
            done += 1
    return _to_weights(mean, usual)


@partial(jax.jit, static_argnames="settings")
def _step(
    learned: _Learned, mean: _Learned, state: optax.OptState, batch: Batch, key: Array, rate: Array, settings: Settings
) -> tuple[_Learned, _Learned, optax.OptState]:
    """Run one step of Adam with weight decay."""
    slope = jax.grad(_loss)(learned, batch, key, settings)
    change, state = _ADAM.update(slope, state, learned)
    learned = jax.tree.map(lambda old, by: old - rate * (by + settings.decay * old), learned, change)
    mean = jax.tree.map(lambda old, new: _AVERAGED * old + (1 - _AVERAGED) * new, mean, learned)
    return learned, mean, state


def _start(key: Array, columns: int, settings: Settings) -> _Learned:
    width = settings.width
    keys = iter(jax.random.split(key, 2 + 2 * settings.rounds))

    def drawn(rows: int, columns: int, factor: float = 1.0) -> Array:
        return jax.random.normal(next(keys), (rows, columns)) * float(factor / np.sqrt(rows))

    return _Learned(
        columns=drawn(columns, width),
        tags=jnp.zeros((len(TAGS) + 1, width)),
        bias=jnp.zeros(width),
        rounds=tuple(
            _Round(
                jnp.ones(width), drawn(width, width, 0.7), drawn((SPAN_COUNT + 1) * width, width, 0.7), jnp.zeros(width)
            )
            for _ in range(settings.rounds)
        ),
        out=drawn(width, 1, 0.1)[:, 0],
        out_bias=jnp.zeros(()),
    )


def _loss(learned: _Learned, batch: Batch, key: Array, settings: Settings) -> Array:
    """Return the loss of the blocks, weighted by their costs, plus that of the pages' selections."""
    logits = _logits(learned, batch, key, settings.dropped)
    wrong = optax.sigmoid_binary_cross_entropy(logits, batch.content)
    lengths = batch.lengths * (batch.costs > 0)
    expected = _by_page(lengths * batch.content, batch)
    selected = jax.nn.sigmoid(logits) * lengths
    f1 = 2 * _by_page(selected * batch.content, batch) / (_by_page(selected, batch) + expected + WEIGHT_EPSILON)
    has_gold = expected > 0
    missed = 1 - (f1 * has_gold).sum() / (has_gold.sum() + WEIGHT_EPSILON)
    blocks: Array = (batch.costs * wrong).sum() / (batch.costs.sum() + WEIGHT_EPSILON)
    return blocks + settings.choice * missed


def _by_page(values: Array, batch: Batch) -> Array:
    return jax.ops.segment_sum(values, batch.pages, PAGES)


def _logits(learned: _Learned, batch: Batch, key: Array, dropped: float) -> Array:
    """Compute the logits like `NeuralNet`, but with dropout."""
    keys = jax.random.split(key, len(learned.rounds) + 1)
    state = _dropout(batch.columns, keys[0], dropped) @ learned.columns
    state = jax.nn.relu(state + learned.tags[batch.tags] + learned.bias)
    for each, own_key in zip(learned.rounds, keys[1:], strict=True):
        own = state * jax.lax.rsqrt((state * state).mean(-1, keepdims=True) + NORM_EPSILON) * each.scale
        context = _context(own, batch) @ each.context
        state = state + _dropout(jax.nn.relu(own @ each.own + context + each.bias), own_key, dropped)
    return state @ learned.out + learned.out_bias


def _dropout(values: Array, key: Array, dropped: float) -> Array:
    mask: Array = jax.random.bernoulli(key, 1 - dropped, values.shape)
    return values * mask / (1 - dropped)


def _context(states: Array, batch: Batch) -> Array:
    weights = batch.weights[:, None]
    weighed = states * weights
    sums = jnp.concatenate((jnp.zeros((1, states.shape[1])), jnp.cumsum(weighed, 0)))
    totals = jnp.concatenate((jnp.zeros((1, 1)), jnp.cumsum(weights, 0)))
    spans = [
        (sums[end] - sums[start]) / (totals[end] - totals[start] + WEIGHT_EPSILON)
        for start, end in zip(batch.starts.T, batch.ends.T, strict=True)
    ]
    count = len(states)
    of_paths = jax.ops.segment_sum(weighed, batch.paths % count, count)
    of_paths /= jax.ops.segment_sum(weights, batch.paths % count, count) + WEIGHT_EPSILON
    return jnp.concatenate((*spans, of_paths[batch.paths]), 1)


def _to_weights(learned: _Learned, usual: Usual) -> NeuralNetWeights:
    def plain(values: Array) -> NDArray[np.float32]:
        return np.asarray(values, np.float32)

    return NeuralNetWeights(
        usual.low,
        usual.high,
        usual.means,
        usual.deviations,
        plain(learned.columns),
        plain(learned.tags),
        plain(learned.bias),
        tuple(ContextLayerWeights(*map(plain, each)) for each in learned.rounds),
        plain(learned.out),
        plain(learned.out_bias),
    )
