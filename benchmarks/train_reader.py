"""Train the reader's model: `python -m benchmarks.train_reader --corpus DIR`.

Equal pages give equal bytes. The command prints scores on pages of unseen domains (four folds by domain), by
page type, with and without the URL. It writes the weights into the package, and those of the folds into
`benchmarks/reader/fold_weights` for `benchmarks.reader`, which scores each page with a model that was not trained
on its domain.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.common.command_line import Figures, print_table
from benchmarks.common.single_thread import restart_single_threaded
from benchmarks.reader.unseen_models import save_fold_models
from benchmarks.training import pipeline
from benchmarks.training.pages import SOURCES, Sample, samples
from benchmarks.training.table import Row, row_of
from benchmarks.training.weights_file import save_weights
from scraper.extract.content.block_classifier import ModelWeights, Prediction
from scraper.extract.content.block_selection import select_blocks

_SHIPPED = Path(__file__).resolve().parent.parent / "scraper" / "extract" / "content" / "weights.npz"

_JAX_SETTINGS = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}


def main() -> int:
    """Train the model, print the scores and write the weights."""
    options = _options()
    restart_single_threaded("benchmarks.train_reader", _JAX_SETTINGS)
    started = time.monotonic()

    def log(text: str) -> None:
        print(f"{time.monotonic() - started:6.0f} s  {text}", flush=True)

    rows, empty = _rows(options.corpus)
    for row in rows:
        row.used_for_training = row.used_for_training and row.source not in options.without
    log(f"{len(rows)} pages, {sum(row.used_for_training for row in rows)} for training")
    trained = pipeline.train(rows, log)
    figures = _report(rows, empty, trained)
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    if not options.without:
        save_fold_models(trained.weights, [row.domain for row in rows] + [sample.domain for sample in empty])
    _write(trained.weights[pipeline.ALL], options.out)
    print(f"{options.out}: {options.out.stat().st_size} bytes, sha256 {_digest(options.out)}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, metavar="DIR", help="folders or archives of pages")
    parser.add_argument("--out", type=Path, default=_SHIPPED, metavar="FILE", help="write the weights to this file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file as {figure: number}")
    parser.add_argument(
        "--without",
        nargs="*",
        default=[],
        choices=SOURCES[1:],
        help="archives that are scored but not used for training",
    )
    return parser.parse_args()


def _rows(corpora: Path) -> tuple[list[Row], list[Sample]]:
    """Return the rows of all pages, and the pages without text."""
    rows: list[Row] = []
    empty: list[Sample] = []
    for source in SOURCES:
        for sample in samples(corpora, source):
            row = row_of(sample)
            if row is None:
                empty.append(sample)
            else:
                rows.append(row)
    return rows, empty


def _report(rows: Sequence[Row], empty: Sequence[Sample], trained: pipeline.Trained) -> Figures:
    """Print the scores on pages that were not used for training."""
    with_url, without_url_scores = _scores(rows, trained.predictions), _scores(rows, trained.without_url)
    for sample in empty:
        for name in ("wcxb", f"wcxb {sample.page_type}") if sample.main else (sample.source,):
            with_url[name].append(float(not sample.gold))
            without_url_scores[name].append(float(not sample.gold))
    print_table(
        "F1 on domains that were not used for training",
        ("pages", "count", "with URL", "without URL"),
        [
            (name, len(with_url[name]), _mean(with_url[name]), _mean(without_url_scores[name]))
            for name in sorted(with_url)
        ],
    )
    figures = {f"folds.{name}": _mean(values) for name, values in with_url.items()}
    return figures | {f"folds.without_url.{name}": _mean(values) for name, values in without_url_scores.items()}


def _scores(rows: Sequence[Row], predictions: Sequence[Prediction]) -> dict[str, list[float]]:
    scores: dict[str, list[float]] = defaultdict(list)
    for row, prediction in zip(rows, predictions, strict=True):
        if row.main or row.gold:
            value = row.bag.f1(select_blocks(row.measures, prediction.probabilities, prediction.page_types))
            scores[f"wcxb {row.page_type}" if row.main else row.source].append(value)
            if row.main:
                scores["wcxb"].append(value)
        if row.main:
            likeliest = max(prediction.page_types, key=lambda name: prediction.page_types[name])
            scores["page type accuracy"].append(float(likeliest == row.page_type))
    return scores


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 4)


def _write(weights: ModelWeights, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        save_weights(weights, file)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
