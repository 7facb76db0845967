"""Alert rules and dashboard parse, use existing metrics, and treat counters as counters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import promql_parser as promql
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.lifecycle import hold_services
from scraper.server.telemetry.metrics import Metrics
from tests.deploy.files import DEPLOY
from tests.scraper.server.stand_in import App

ALERTS = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text())
DASHBOARD = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())
PANELS = DASHBOARD["panels"]
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
EXPRESSIONS = [rule["expr"] for rule in RULES] + [
    target["expr"].replace("$__rate_interval", "5m").replace("$instance", ".*")
    for panel in PANELS
    for target in panel["targets"]
]
OF_COUNTERS = {"rate", "increase"}
SCRAPED_BY_PROMETHEUS = {"up"}


def selectors(node: Any, function: str = "") -> Iterator[tuple[str | None, str]]:
    """Yield each metric name with the innermost function around its range, or ""."""
    if isinstance(node, promql.VectorSelector):
        yield node.name, function
    elif isinstance(node, promql.MatrixSelector):
        yield node.vector_selector.name, function
    elif isinstance(node, promql.Call):
        for argument in node.args:
            yield from selectors(argument, node.func.name)
    else:
        for part in ("expr", "lhs", "rhs", "param"):
            if (inner := getattr(node, part, None)) is not None:
                yield from selectors(inner, function)


async def metric_types() -> dict[str, str]:
    """Return the type of each sample that /metrics serves, by name."""
    async with hold_services(App.open) as holder:
        await holder.services()
        answer = await Metrics(holder, CallDispatcher((), holder, deadline_s=1), ()).route().endpoint(None)
    types: dict[str, str] = {}
    for family in text_string_to_metric_families(answer.body.decode()):
        suffixes = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(family.type, [""])
        types |= {family.name + suffix: family.type for suffix in suffixes}
    return types


async def test_expressions_use_metrics_of_the_server_by_their_type() -> None:
    types = await metric_types()
    for expression in EXPRESSIONS:
        for name, function in selectors(promql.parse(expression)):
            assert name in types or name in SCRAPED_BY_PROMETHEUS, expression
            accumulates = types.get(name) in {"counter", "histogram"}
            assert accumulates == (function in OF_COUNTERS), expression


@pytest.mark.parametrize("expression", ["rate(search_mcp_calls_total)", "sum by tool (up)", "up ==="])
def test_a_wrong_expression_is_found(expression: str) -> None:
    with pytest.raises(ValueError):
        promql.parse(expression)


def test_each_alert_names_the_problem_and_the_next_step() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert set(rule["annotations"]) == {"summary", "action"}
        assert rule["labels"]["severity"] in {"info", "warning", "critical"}


def test_panels_of_the_dashboard_do_not_overlap() -> None:
    cells: set[tuple[int, int]] = set()
    for panel in PANELS:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        own = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not own & cells, panel["title"]
        cells |= own
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
