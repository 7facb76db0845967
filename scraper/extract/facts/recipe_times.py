"""The times of a recipe as a person reads them, beside their labels."""

from __future__ import annotations

from scraper.extract.facts.durations import minutes
from scraper.extract.facts.labelled import Labels
from scraper.extract.xpath import Element

__all__ = ["seen"]

_LABELS = Labels(
    {
        "total_time": (
            r"total(?: cook(?:ing)?)? time|time|ready in|total|totale tijd|totale bereidingstijd|"
            r"gesamtzeit|gesamt|arbeitszeit gesamt|temps total|durée totale|tiempo total|tempo totale?|"
            r"tempo de preparo|samlet tid|total tid|tid i alt|totaltid|tillagningstid|kokonaisaika|"
            r"czas całkowity|celkový čas|teljes idő|toplam süre|общее время|время приготовления|所要時間|"
            r"總時間|总时间|συνολικός χρόνος|전체 시간"
        ),
        "prep_time": (
            r"prep(?:aration)?(?: time)?|hands-?on(?: time)?|active time|voorbereiding(?:stijd)?|"
            r"vorbereitung(?:szeit)?|(?:temps de )?préparation|(?:tiempo de )?preparación|"
            r"(?:tempo di )?preparazione|forberedelse(?:stid)?|förberedelse|czas przygotowania|"
            r"doba přípravy|hazırlama süresi|подготовка|準備時間"
        ),
        "cook_time": r"cook(?:ing)?(?: time)?|bake(?: time)?|baking time|kooktijd|oventijd|kochzeit|backzeit|"
        r"koch-?/?backzeit|(?:temps de )?cuisson|(?:tiempo de )?cocción|(?:tempo di )?cottura|"
        r"steketid|tilberedningstid|czas gotowania|pişirme süresi|調理時間",
    }
)


def seen(body: Element) -> dict[str, int]:
    """Minutes by name; what is beside a label and names no unit is left out."""
    told = {name: None if text.isdecimal() else minutes(text) for name, text in _LABELS.seen(body).items()}
    return {name: span for name, span in told.items() if span}
