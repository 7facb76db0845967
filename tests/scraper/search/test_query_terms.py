"""Terms of texts, in scripts with and without spaces."""

from __future__ import annotations

from scraper.search.fusion import extract_content_words, title_key
from scraper.text.likeness import jaccard
from scraper.text.terms import unique_terms


def test_words_are_normalized_for_case_and_accents() -> None:
    assert unique_terms("Été à Đà Nẵng") == {"ete", "a", "da", "nang"}
    assert unique_terms("STRASSE straße") == {"strasse"}


def test_vowel_signs_do_not_break_words() -> None:
    assert unique_terms("हिन्दी भाषा") == {"हिन्दी", "भाषा"}
    assert extract_content_words("हिन्दी में भाषा") == ("हिन्दी", "में", "भाषा")


def test_scripts_without_spaces_give_bigrams() -> None:
    assert unique_terms("東京天気 Tokyo") == {"東京", "京天", "天気", "tokyo"}
    assert unique_terms("が") == {"が"}


def test_content_words_exclude_operators_and_short_words() -> None:
    query = "What is the tidal power of site:example.com -wind filetype:pdf OR waves"
    assert extract_content_words(query) == ("tidal", "power", "waves")
    assert extract_content_words("a of 1") == ()


def test_jaccard_is_the_share_of_common_words() -> None:
    assert jaccard(frozenset("abc"), frozenset("bcd")) == 0.5
    assert jaccard(frozenset(), frozenset()) == 0.0


def test_a_title_key_has_no_publisher_and_no_punctuation() -> None:
    assert title_key("Ferry lost, then found! - Harbour Review") == "ferrylostthenfound"
    assert title_key("Ferry lost, then found | Paper") == title_key("FERRY LOST: then found")
    assert title_key("A-B testing") == "abtesting"
