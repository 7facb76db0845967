from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from benchmarks.ablation.items import Answer, Item, add, figures
from benchmarks.ablation.switches import NEUTRAL, Memo, Rule, Tracer, load_rules, switched_off, unruled_modules
from scraper.facts import money
from scraper.facts.metadata import author_date_labels
from scraper.html.page import media_placeholders

ROOT = Path(__file__).parents[3]
PACKAGES = ("extract/content", "extract/discussion", "extract/code", "extract/normalize", "facts", "documents", "site")
DECIMALS = Rule("facts", "scraper.facts.money:currency_code", "none")
MEDIA = Rule("html", "scraper.html.page.media_placeholders:resolve_lazy_media", "none")


def test_each_rule_is_a_function_that_can_be_replaced() -> None:
    rules = load_rules()
    assert [rule.name for rule in rules if rule.neutral not in NEUTRAL or rule.function().__code__.co_freevars] == []
    assert len({rule.name for rule in rules}) == len(rules)


def test_each_module_has_rules_or_is_listed_as_one_without() -> None:
    files = [file for name in PACKAGES for file in (ROOT / "scraper" / name).rglob("*.py") if file.stem != "__init__"]
    modules = {".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files}
    ruled = {rule.name.partition(":")[0] for rule in load_rules()}
    assert modules - ruled == unruled_modules() & modules
    assert ruled.isdisjoint(unruled_modules())
    assert unruled_modules() <= modules


def test_an_unknown_rule_is_an_error() -> None:
    with pytest.raises(LookupError, match="no_such_rule"):
        load_rules(["no_such_rule"])


def test_a_rule_is_neutral_only_inside_of_the_block() -> None:
    before = money.currency_code("$", "ca")
    with switched_off([DECIMALS]):
        assert money.currency_code("$", "ca") is None
    assert money.currency_code("$", "ca") == before == "CAD"


def test_results_in_caches_follow_the_rules() -> None:
    names = Rule("discussion", "scraper.facts.metadata.author_date_labels:_is_quote_class", "true")
    element = etree.fromstring("<div class='plain'>x</div>")
    assert not author_date_labels.is_quote(element)
    with switched_off([names]):
        assert author_date_labels.is_quote(element)
    assert not author_date_labels.is_quote(element)


def trace(markup: str) -> set[str]:
    tracer = Tracer([DECIMALS, MEDIA])
    with tracer.tracing():
        media_placeholders.resolve_lazy_media(etree.fromstring(markup), "http://a.example/")
    return tracer.effective


def test_a_rule_has_an_effect_where_it_changes_the_tree() -> None:
    assert trace("<div><amp-img src='a.png'/></div>") == {MEDIA.name}
    assert trace("<div><img src='a.png'/></div>") == set()


def test_a_rule_has_an_effect_where_its_result_is_not_neutral() -> None:
    tracer = Tracer([DECIMALS])
    with tracer.tracing():
        money.currency_code("no sign", "")
        assert tracer.effective == set()
        money.currency_code("$", "ca")
        assert tracer.effective == {DECIMALS.name}


def test_a_result_is_computed_again_without_a_rule_that_had_an_effect() -> None:
    memo, calls = Memo[int](), []

    def compute() -> int:
        calls.append(money.currency_code("$", "ca"))
        return len(calls)

    with Tracer([DECIMALS, MEDIA]).tracing():
        assert memo.get(1, compute) == 1
    with switched_off([MEDIA]):
        assert memo.get(1, compute) == 1
    with switched_off([DECIMALS]):
        assert memo.get(1, compute) == 2
    assert calls == ["CAD", None]


def test_figures_are_ratios_of_sums() -> None:
    counts = [({"f1": (1.0, 2.0)}, 1.0), ({"f1": (3.0, 2.0), "held": (1.0, 1.0)}, 2.0)]
    assert figures(add(counts)) == {"f1": 7 / 6, "held": 1.0}


def test_inputs_of_a_domain_are_in_one_half() -> None:
    def read() -> Answer:
        return Answer({})

    assert Item("reader", "a", "example.com", read).half == Item("facts", "b", "example.com", read).half
    assert {Item("reader", "a", f"{number}.example", read).half for number in range(9)} == {0, 1}
