"""Find words of human languages in the texts of a program.

Each script other than Latin is a language; Chinese characters and Japanese syllables are one. Languages in Latin
script are recognized by frequent words of pages: bylines, answers, comments, dates, prices, searches, recipes. A word
that several languages share is given to one of them, and languages that share most of these words are one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["find_languages"]

_LATIN_WORDS = {
    "Czech or Slovak": "napsal odpovědi komentáře dnes včera ledna pondělí hledat přečtěte také více souhlasím kč",
    "Danish, Norwegian or Swedish": "av svar idag igår måndag mandag skrev kommentarer ingredienser sök søg også också",
    "Dutch": "reacties antwoorden vandaag gisteren dagen januari maandag prijs zoeken ingrediënten schreef volgende",
    "Finnish": "kirjoitti vastaukset eilen tänään maanantai hinta myös ainekset",
    "French": "par auteur avec réponse réponses répondre commentaire commentaires jours heures janvier février août "
    "lundi prix recherche ingrédients écrit écrivait suivant suivante sujet",
    "German": "von und nicht heute gestern uhr tage stunden antwort antworten beitrag kommentar kommentare januar "
    "märz dezember montag preis suche zutaten schrieb geschrieben veröffentlicht weiter bzw für",
    "Hungarian": "szerző írta hozzászólás tegnap hétfő január keresés hozzávalók",
    "Indonesian": "oleh penulis balasan kemarin senin harga bahan juga",
    "Italian": "autore risposta risposte commenti oggi ieri giorni gennaio prezzo cerca ingredienti scritto avanti",
    "Polish": "przez odpowiedź odpowiedzi komentarze dziś wczoraj stycznia cena szukaj składniki napisał zł",
    "Portuguese or Spanish": "autora respuesta respuestas resposta respostas comentario comentarios comentários hoy "
    "ayer hoje ontem días horas años anos enero janeiro febrero fevereiro lunes precio preço buscar ingredientes "
    "escribió escreveu siguiente fecha para",
    "Romanian": "scris răspunsuri comentarii ianuarie luni preț citește ingrediente",
    "Turkish": "tarafından yazan yazar yanıt yorum yorumlar bugün dün önce ocak pazartesi fiyat malzemeler",
    "Vietnamese": "bởi trả giá trước nguyên liệu",
}
_LANGUAGES = {word: language for language, words in _LATIN_WORDS.items() for word in words.split()}
_SCRIPTS = frozenset(
    "ARABIC ARMENIAN BENGALI CJK CYRILLIC DEVANAGARI GEORGIAN GREEK GUJARATI GURMUKHI HANGUL HEBREW HIRAGANA KANNADA "
    "KATAKANA KHMER LAO MALAYALAM MYANMAR SINHALA TAMIL TELUGU THAI".split()
)
"""First words of the names of characters in Unicode."""

_JAPANESE = frozenset({"HIRAGANA", "KATAKANA"})

_ALPHABETS = frozenset({"ARMENIAN", "CYRILLIC", "GEORGIAN", "GREEK"})
"""Scripts of which one letter is no word, but a sign: Σ is one of mathematics."""

_RANGE = re.compile(r"[^\x00-\x7f]-[^\x00-\x7f]")
"""Range of characters in a regular expression, which is no word."""

_WORD = re.compile(r"[^\W\d_]+")


def find_languages(texts: Iterable[str]) -> set[str]:
    """Return the languages, other than English, of which the texts contain a word."""
    languages: set[str] = set()
    for text in texts:
        for word in _WORD.findall(_RANGE.sub(" ", text.lower())):
            languages |= _find_scripts(word)
            if word in _LANGUAGES:
                languages.add(_LANGUAGES[word])
    return languages


def _find_scripts(word: str) -> set[str]:
    names = {unicodedata.name(character, "").partition(" ")[0] for character in word}
    found = {"CJK" if name in _JAPANESE else name for name in names & _SCRIPTS}
    return found if len(word) > 1 else found - _ALPHABETS
