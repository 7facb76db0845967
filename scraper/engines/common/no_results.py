"""How engines say that they found nothing, which is worth saying only where a person would read it."""

from __future__ import annotations

import re

from scraper.engines.common import dom_text
from scraper.engines.common.result_page import ResultPage

_MAX_SENTENCE = 300

_NONE = re.compile(
    r"""
    ^\W*(?:(?:oops|sorry|unfortunately|hmm|uh\s+oh)\W+)?(?:
    (?:there\s+(?:are|were)\s+)?no\s+(?:more\s+)?(?:\w+\s+)?
        (?:results|matches|documents|pages)
        (?:\s+(?:were|was))?(?:\s+found|\s+for\b|\s+match(?:ing)?\b|\s+here|\s+containing|\W*$)
    | we\s+(?:could|did)(?:n['’]t|\s+not)\s+find\s+(?:any|results|anything|that\s+page)
    | we\s+found\s+no\s+results
    | your\s+search\s*(?:-|–|—|for\b)?.{0,200}\b(?:did\s+not\s+match\s+any|returned\s+no|had\s+no)
    | .{0,200}\bdid\s+not\s+match\s+any\s+(?:documents|results|articles|news|web)
    | nothing\s+(?:was\s+)?found\b
    | not\s+many\s+(?:great\s+)?matches\s+came\s+back
    | it\s+looks\s+like\s+there\s+are\s+no\s+.{0,20}\bmatches
    | there\s+are\s+no\s+results
    | 抱歉，?\s*(?:没有|未)找到 | 很抱歉，没有找到 | 没有找到(?:该|相关|与|符合)
    | 一致する(?:情報|ウェブページ|結果)は見つかりません | に一致する(?:情報|結果)
    | keine\s+(?:ergebnisse|treffer|mit) | es\s+wurden\s+keine
    | aucun\s+(?:résultat|document) | no\s+se\s+(?:han\s+)?encontr(?:ó|aron|ado)
    | nenhum\s+resultado | não\s+encontramos | nessun\s+risultato | geen\s+resultaten
    | brak\s+wyników | ничего\s+не\s+(?:нашл|найден) | по\s+(?:вашему\s+)?запросу\s+ничего | ничего\s+не\s+
    | không\s+tìm\s+thấy | kết\s+quả\s+nào | sonuç\s+bulunamadı | 검색결과가\s+없
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LOOSENED = re.compile(
    r"""
    ^\W*(?:
    no\s+results\s+found\s+for\b
    | (?:including|showing)\s+results\s+for\b.{0,200}\bwithout\s+quotes
    | we\s+did(?:n['’]t|\s+not)\s+find\s+(?:any\s+)?results\s+for\b
    | results?\s+for\s+.{0,200}\(without\s+quotes\)
    | (?:抱歉，?\s*)?没有找到(?:与)?.{0,200}(?:去掉|已.{0,6}去|建议|显示)
    | .{0,100}无双引号 | .{0,100}去掉双引号 | .{0,100}已显示.{0,60}结果
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MAX_RUNS = 4_000


def says_none(page: ResultPage) -> bool:
    """Whether a page says in a sentence of its own that nothing was found."""
    return _says(page, _NONE)


def says_loosened(page: ResultPage) -> bool:
    """Whether rows are for a looser query than the one that was asked."""
    return _says(page, _LOOSENED)


def _says(page: ResultPage, pattern: re.Pattern[str]) -> bool:
    if page.root is None:
        return False
    for count, run in enumerate(dom_text.runs(page.root)):
        if count > _MAX_RUNS:
            return False
        if len(run) <= _MAX_SENTENCE and pattern.match(" ".join(run.split())):
            return True
    return False
