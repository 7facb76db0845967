"""Short lines that say what follows: comments, other articles, reviews, ways to share and subscribe."""

from __future__ import annotations

import re
from bisect import bisect
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.page_statistics import PageStatistics

TOPICS = {
    "comments": re.compile(
        r"\b(?:comments?|leave a (?:reply|comment)|join the (?:conversation|discussion)|responses|discussion|"
        r"kommentare?|kommentarer|commentaires?|comentarios?|comentários|commenti|reacties|komentarze|komentáře|"
        r"комментари\w+|yorumlar|komentari)\b|评论|評論|留言|コメント|댓글|تعليقات",
        re.IGNORECASE,
    ),
    "others": re.compile(
        r"\b(?:related|recommended|you (?:may|might) (?:also )?(?:like|be interested)|"
        r"also (?:like|viewed|bought|read)|"
        r"read (?:next|more|also)|more (?:from|on|in|stories|news|articles|like this|about)|popular|"
        r"trending|"
        r"most (?:read|viewed|popular)|latest|recent (?:posts|articles|news)|similar|up next|keep reading|"
        r"don't miss|editor'?s picks|sponsored|frequently bought|customers|others?|top stories|"
        r"mehr zum thema|das könnte|weitere|auch interessant|meistgelesen|lesen sie (?:auch|mehr)|verwandte|"
        r"à lire|lire aussi|sur le même sujet|articles? (?:liés|similaires)|les plus lus|"
        r"te puede interesar|más (?:leído|noticias|sobre)|lo más|relacionad[oa]s?|lee también|"
        r"leggi anche|potrebbe interessarti|correlati|più letti|"
        r"leia (?:também|mais)|veja também|mais lidas|lees ook|meer (?:over|nieuws)|"
        r"les også|les mer|läs (?:också|mer)|"
        r"zobacz także|czytaj (?:też|także|więcej)|polecane|najczęściej|čtěte také|související|"
        r"читайте также|по теме|похожие|ilgili|bunlar da)\b|相关|相關|推荐|推薦|"
        r"热门|関連|おすすめ|人気|ランキング",
        re.IGNORECASE,
    ),
    "reviews": re.compile(
        r"\b(?:reviews?|ratings?|testimonials?|bewertungen|avis|opiniones|reseñas|recensioni|avaliações|opinie|"
        r"отзывы)\b|レビュー|评价",
        re.IGNORECASE,
    ),
    "actions": re.compile(
        r"\b(?:share|newsletter|subscribe|sign up|follow us|about the authors?|tags|categories|archives?|"
        r"contact us|get in touch|login|teilen|partager|compartir|condividi|udostępnij|поделиться|tagged)\b|"
        r"分享|シェア",
        re.IGNORECASE,
    ),
}
FIRST_WORDS = frozenset(
    "about also archive archives article articles auch avis bewertungen bunlar categories comentario "
    "comentarios comment commentaire commentaires commenti comments compartir condividi contact "
    "correlati customers discussion don editor editors follow frequently get ilgili join keep komentari "
    "komentarze kommentar kommentare kommentarer latest leave lees leggi leia les lesen lire login mais "
    "meer mehr meistgelesen more most newsletter opinie opiniones other others partager polecane "
    "popular potrebbe rating ratings reacties read recensioni recent recommended related relacionada "
    "relacionadas relacionado relacionados responses review reviews share sign similar sponsored "
    "subscribe tagged tags te teilen testimonial testimonials top trending up verwandte weitere "
    "yorumlar you".split()
)
"""One of them stands in every line in ASCII that says any of this: most need not be looked at closer."""

_ANY = "|".join(words.pattern for words in TOPICS.values())
_ANY_CASE = re.compile(_ANY, re.IGNORECASE)
_LOWER_CASE = re.compile(_ANY)
"""One line in ten says any of this. The others are asked all at once, in lower case: a third of the time."""

_ODD_CASE = re.compile("[\u0130\u0131\u017f\u1c80-\u1c88\u212a]")
"""Letters that are taken for others where case is ignored, and which `lower` does not turn into these."""

_MAX_WORDS = 9
_MAX_CHARACTERS = 80
_FAR = 300


def topic_columns(page: PageStatistics) -> dict[str, NDArray[np.generic]]:
    """How far above a block such a line stands, and whether a heading of its own kind came since."""
    lines = [
        (number, text)
        for number, (text, words) in enumerate(zip(page.texts, page.words, strict=True))
        if len(text) <= _MAX_CHARACTERS
        and len(words) <= _MAX_WORDS
        and not (text.isascii() and FIRST_WORDS.isdisjoint(words))
    ]
    telling = _telling(lines)
    headings = np.where(page.heading, page.index, -1)
    last_heading = np.maximum.accumulate(headings)
    columns: dict[str, NDArray[np.generic]] = {}
    for topic, expression in TOPICS.items():
        places = np.full(page.n, -_FAR)
        hits = [number for number, text in telling if expression.search(text)]
        places[hits] = hits
        last = np.maximum.accumulate(places)
        columns[f"since_{topic}"] = np.minimum(page.index - last, _FAR)
        columns[f"under_{topic}"] = (last >= 0) & (last_heading <= last)
    return columns


def _telling(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The lines that say something of any topic. No expression reaches over the end of a line."""
    joined = "\n".join(text for _, text in lines)
    starts = list(accumulate((len(text) + 1 for _, text in lines), initial=0))
    odd = not joined.isascii() and _ODD_CASE.search(joined)
    found = _ANY_CASE.finditer(joined) if odd else _LOWER_CASE.finditer(joined.lower())
    return [lines[place] for place in dict.fromkeys(bisect(starts, match.start()) - 1 for match in found)]
