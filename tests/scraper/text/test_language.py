"""Language detection for pages that declare no language."""

from __future__ import annotations

import pytest

from scraper.text.language import choose_language, detect_language
from tests.scraper.extract.snapshots import read
from tests.scraper.soon import soon

TEXTS = {
    "en": "The ferry leaves the island at noon and it is full of people who have been here for a week.",
    "de": "Die Fähre verlässt die Insel am Mittag und sie ist voll von Leuten, die nicht nach Hause wollen.",
    "fr": "Le bac quitte l'île à midi et il est plein de gens qui sont restés une semaine dans les hôtels.",
    "es": "El barco sale de la isla al mediodía y está lleno de los que han pasado una semana con él.",
    "pt": "O barco sai da ilha ao meio-dia e não tem lugar para as pessoas que vieram com atraso.",
    "it": "Il traghetto lascia l'isola a mezzogiorno ed è pieno di persone che non sono mai state nel porto.",
    "nl": "De boot verlaat het eiland om twaalf uur en is vol met mensen die een week in het hotel waren.",
    "pl": "Prom odpływa z wyspy w południe i jest pełen ludzi, którzy nie chcą wracać do domu po tygodniu.",
    "cs": "Prám, který v poledne odplouvá, je podle lidí při cestě jako nový, ale se psem nesmí.",
    "hu": "A komp délben indul a szigetről, és tele van emberekkel, akik már nem akarnak az esőben lenni.",
    "vi": "Chuyến phà rời đảo vào buổi trưa và đầy những người đã ở đây một tuần với họ.",
    "ru": "Паром уходит с острова в полдень, и он полон людей, которые не хотят домой, но пора.",
    "uk": "Пором відходить з острова опівдні, і він повний людей, які не хочуть додому, але час та й годі.",
    "ko": "배는 정오에 섬을 떠나며 일주일 동안 이곳에 머문 사람들로 가득 차 있고 아무도 가지 않습니다.",
    "ja": "船は正午に島を出ます。一週間ここにいた人々でいっぱいで、だれも家に帰りたがりません。",
    "zh": "渡轮中午离开小岛，船上挤满了在这里住了一个星期的人，没有人愿意回家。港口还有人在等船。",
    "th": "เรือออกจากเกาะตอนเที่ยงและเต็มไปด้วยผู้คน",
    "ar": "تغادر العبارة الجزيرة عند الظهر وهي مليئة بالناس الذين أمضوا هنا أسبوعا.",
    "fa": "کشتی ظهر جزیره را ترک می‌کند و پر از مردمی است که یک هفته اینجا بوده‌اند.",
    "ur": "کشتی دوپہر کو جزیرے سے روانہ ہوتی ہے اور ان لوگوں سے بھری ہے جو یہاں ہیں۔",
    "he": "המעבורת עוזבת את האי בצהריים והיא מלאה באנשים שהיו כאן שבוע.",
    "el": "Το πλοίο φεύγει από το νησί το μεσημέρι και είναι γεμάτο κόσμο.",
    "hi": "नाव दोपहर को द्वीप से निकलती है और उन लोगों से भरी है जो यहाँ एक सप्ताह रहे।",
}


@pytest.mark.parametrize("language", TEXTS)
def test_the_language_of_running_text_is_detected(language: str) -> None:
    assert detect_language(TEXTS[language] * 2) == language


@pytest.mark.parametrize(
    "text", ["", "   ", "Kaffee und Kuchen", "1 2 3 " * 50, "Anna Berg Carl Dahl " * 20, "中文 and some English " * 3]
)
def test_short_text_and_lists_have_no_language(text: str) -> None:
    assert detect_language(text) is None


def test_mixed_scripts_and_shared_words_have_no_language() -> None:
    assert detect_language(f"{'letters of latin ' * 6} {'буквы кириллицы ' * 6} {'γράμματα ' * 11}") is None
    assert detect_language("na se je za " * 20) is None


def test_the_declared_language_is_used() -> None:
    assert choose_language("de-AT", TEXTS["fr"]) == "de-AT"
    assert choose_language("en-GB", TEXTS["en"] * 5) == "en-GB"


def test_english_declared_by_a_template_is_corrected() -> None:
    assert choose_language("en-US", TEXTS["es"] * 5) == "es"
    assert choose_language("en", TEXTS["ja"] * 2) == "ja"


def test_a_short_text_does_not_overrule_the_declared_language() -> None:
    assert choose_language("en", TEXTS["es"]) == "en"
    assert choose_language("en", TEXTS["es"] * 5 + TEXTS["en"] * 3) == "en"


def test_without_a_declaration_the_detected_language_is_used() -> None:
    page = f"<title>Isla</title><main><h1>Isla</h1><p>{TEXTS['es'] * 4}</p></main>"
    assert read(page).language == "es"
    assert read(f"<html lang=en>{page}").language == "es"
    assert read(f"<html lang=es-CL>{page}").language == "es-CL"
    assert read("<p>7 8 9</p>").language is None


def test_only_the_beginning_of_a_long_text_is_examined() -> None:
    with soon():
        assert detect_language(TEXTS["ru"] * 2 + "и" * 3_000_000) == "ru"
