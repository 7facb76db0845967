"""Labels with their values, by structure; a label whose place is empty has none."""

from __future__ import annotations

import pytest

from scraper.facts.fields import extraction
from scraper.facts.fields.model import FieldRequest
from tests.scraper.extract.snapshots import page

ROW = "<div class=row><div class=k>{}</div><div class=v>{}</div></div>"
FORMS = {
    "boxes with classes": ROW,
    "boxes without classes": "<div><div>{}</div><div>{}</div></div>",
    "flat boxes": "<div class=k>{}</div><div class=v>{}</div>",
    "items of spans in boxes": "<li><p class=k>{}</p><p class=v>{}</p></li>",
    "paragraphs": "<p><b>{}:</b> {}</p>",
    "line breaks": "<b>{}:</b> {}<br>",
    "marks behind the label": "<p><strong>{}</strong>: {}</p>",
    "plain text": "<p>{}: {}</p>",
    "definitions": "<dl><dt>{}</dt><dd>{}</dd></dl>",
    "definitions in groups": "<dl><div><dt>{}</dt><dd><span>{}</span></dd></div></dl>",
    "header cells": "<table><tr><th>{}</th><td>{}</td></tr></table>",
    "plain cells": "<table><tr><td>{}</td><td>{}</td></tr></table>",
    "headings": "<div class=i><h4>{}:</h4><p>{}</p></div>",
}
NAMES = {
    "en": ("Power", "Color", "Weight", "Warranty", "Origin"),
    "de": ("Leistung", "Farbe", "Gewicht", "Garantie", "Herkunft"),
    "el": ("Ισχύς", "Χρώμα", "Βάρος", "Εγγύηση", "Προέλευση"),
    "ja": ("電力", "色番号", "重さ", "保証期間", "原産国"),
}


def values(html: str, *names: str, title: str = "Pump P-200") -> dict[str, str | None]:
    whole = f"<head><title>{title}</title></head><body><main><h1>{title}</h1>{html}<p>A sturdy thing.</p></main></body>"
    (found,) = extraction.extract([page(whole)], FieldRequest(fields=dict.fromkeys(names, "")))
    assert all(
        value is not None or any(name in text for text in found.warnings) for name, value in found.values.items()
    )
    return dict(found.values)


def rows(form: str, pairs: dict[str, str]) -> str:
    """Return the rows in one table, list or box."""
    for around in ("table", "dl"):
        if form.startswith(f"<{around}>"):
            inner = form.removeprefix(f"<{around}>").removesuffix(f"</{around}>")
            return f"<{around}>{''.join(inner.format(*pair) for pair in pairs.items())}</{around}>"
    return f"<div>{''.join(form.format(*pair) for pair in pairs.items())}</div>"


@pytest.mark.parametrize(
    "html",
    [
        "<dl><dt>Power</dt><dd>750 W</dd><dt>Color</dt><dt>Weight</dt><dd>9 kg</dd></dl>",
        "<ul><li>Power – 750 W</li><li>Color –</li><li>Weight – 9 kg</li></ul>",
        "<div><i class=k>Power</i><i>750 W</i><i class=k>Color</i><i></i><i class=k>Weight</i><i>9 kg</i></div>",
    ],
)
def test_a_text_that_is_itself_a_label_is_no_value(html: str) -> None:
    assert values(html, "Power", "Color", "Weight") == {"Power": "750 W", "Color": None, "Weight": "9 kg"}


@pytest.mark.parametrize("cell", ["th", "td"])
@pytest.mark.parametrize("models", [("P-20", "P-200"), ("P-200", "P-2000"), ("P-100", "P-150", "P-10", "P-200")])
def test_of_a_comparison_the_column_counts_whose_whole_header_is_in_the_title(cell: str, models: tuple[str]) -> None:
    head = "".join(f"<{cell}>{model}</{cell}>" for model in ("Model", *models))
    powers = "".join(f"<td>{model.removeprefix('P-')}0 W</td>" for model in models)
    assert values(f"<table><tr>{head}</tr><tr><td>Power</td>{powers}</tr></table>", "power") == {"power": "2000 W"}


@pytest.mark.parametrize("language", NAMES)
@pytest.mark.parametrize("empty", ["", "&nbsp;", "<img src=/a.png>"])
@pytest.mark.parametrize("form", FORMS)
def test_an_empty_place_gives_null_and_never_the_next_label_or_value(form: str, empty: str, language: str) -> None:
    power, color, weight, warranty, origin = NAMES[language]
    shown = {power: "750 W", color: empty, weight: "9 kg", warranty: empty, origin: "Norway"}
    expected = {power: "750 W", color: None, weight: "9 kg", warranty: None, origin: "Norway"}
    assert values(rows(FORMS[form], shown), *NAMES[language]) == expected


@pytest.mark.parametrize(
    "box",
    [
        "<div><div>{}</div><div>{}</div></div>",
        "<li><strong>{}</strong><span>{}</span></li>",
        "<div><h3>{}</h3><p>{}</p></div>",
        "<div><dd>{}</dd><dt>{}</dt></div>",
        "<figure><b>{}</b><figcaption>{}</figcaption></figure>",
    ],
)
def test_a_label_may_stand_behind_its_value_in_one_of_several_boxes(box: str) -> None:
    shown = {"Power": "750 W", "Weight": "9 kg", "Origin": "Norway"}
    assert values("".join(box.format(value, name) for name, value in shown.items()), *shown) == shown
