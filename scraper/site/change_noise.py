"""Recognize the parts of a page that change by themselves: ages, clocks, counts of visitors, ids of requests."""

from __future__ import annotations

import re

from scraper.text.date_parsing import AGE, DATE_FORMS
from scraper.text.word_patterns import compile_any_of
from scraper.words.matcher import expand

_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
_UNIT = r"(?:s|m|h|d|sec(?:ond)?s?|min(?:ute)?s?|hours?|hrs?|days?|weeks?|months?|years?)"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\.?)?(?:\s*(?:utc|gmt|ces?t|es?t|ps?t|edt|pdt|z))?"
_DAY = (
    r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,?\s+)?"
    rf"(?:\d{{4}}-\d\d-\d\d(?:t[\d:.]+(?:z|[+-]\d\d:?\d\d)?)?|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)?\s+{_MONTH},?\s+\d{{4}}|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}})"
)
_COUNT = r"\d[\d.,\u00a0]{0,30}+(?:[km]|bn)?\+?"
"""A number. Possessive and bounded: eight thousand digits took 45 s."""
_ANY_DATE = "|".join(expand(form.template) for form, _ in DATE_FORMS)
"""A date in one of forty languages."""
_COUNT_NOUNS = (
    r"(?:page)?(?:views?|reads?|visits?|visitors?|likes?|shares?|upvotes?|votes?|points?|followers?|subscribers?|comments?|"
    r"replies|downloads|stars?|forks?|watchers?|users? online|members? online|online|bookmarks?|reactions?|"
    r"people (?:are )?(?:viewing|watching|looking)|"
    r"aufrufe|besucher|kommentare?|antworten|abonnenten|vues|visiteurs?|commentaires?|réponses?|abonnés?|j’aime|j'aime|"
    r"visitas?|visualizaciones|visualizações|visualizzazioni|comentarios?|comentários?|commenti|respuestas|respostas|"
    r"risposte|seguidores|me gusta|curtidas|mi piace|weergaven|bezoekers|reacties|visningar|kommentarer|wyświetleń|"
    r"komentarzy|просмотр\w*|посетител\w*|комментари\w*|ответ(?:а|ов)|подписчик\w*)"
)
"""Words for visitors and their reactions, whose numbers change on each visit, in several languages."""
_COUNTED_CJK = (
    r"(?:閲覧数?|コメント数?|いいね数?|フォロワー数?|訪問者数?|浏览量?|瀏覽量?|阅读量?|閱讀量?|评论数?|評論數?|点赞数?|"
    r"조회수?|댓글수?|좋아요)"
)
_COUNTS = re.compile(
    rf"{_COUNT}\s*{_COUNT_NOUNS}\b|"
    rf"\b(?:(?!points?\b|online\b){_COUNT_NOUNS}|hits|(?:users?|members?|guests?) online|online (?:users?|guests?))"
    rf"\s*[:(]\s*{_COUNT}\)?|"
    rf"{_COUNTED_CJK}\s*[:：(（]?\s*{_COUNT}[)）]?|{_COUNT}\s*(?:次|件の|개의)?\s*{_COUNTED_CJK}",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\b(?:at least|at most|up to|no more than|max(?:imum)?|minimum|limit(?:ed|s)?|per|allowed|included|unlimited|"
    r"bis zu|maximal|mindestens|höchstens|jusqu.à|au moins|au plus|hasta|al menos|até|pelo menos|fino a|almeno|"
    r"massimo|máximo|mínimo|maximaal|minstens)\b|まで|以内|以上|以下",
    re.IGNORECASE,
)
"""Words of a rule about a number: "up to 100 comments per day" is not a count of comments."""
_NOISE = re.compile(
    "|".join(
        (
            rf"(?:about |over |almost )?(?:\d+|an?|one|a few)\s*{_UNIT}(?:\s+(?:and\s+)?\d+\s*{_UNIT})*\s+ago\b",
            r"\bjust now\b",
            rf"\b(?:yesterday|today) at {_CLOCK}",
            # A word for an update is noise only with its time.
            r"(?:(?:last |recently )?(?:updated|modified|generated|retrieved|refreshed|checked|rendered)|as of|stand|"
            r"(?:zuletzt|letzte) (?:geändert|aktualisiert|änderung|aktualisierung)|"
            r"(?:dernière )?(?:mise?s? à jour|modification)|"
            r"(?:última )?(?:actualizad[oa]|actualización|modificación|atualizad[oa]|atualização|modificação)|"
            r"(?:ultimo )?aggiornat[oa]|(?:ultimo )?aggiornamento|(?:laatst )?(?:bijgewerkt|gewijzigd)|"
            r"(?:последнее )?(?:обновлен[оие]+|изменени[ея])|(?:最終|最后)?更新(?:日時?|时间|於|于)?|최종 ?수정일?)"
            r"(?:\s+(?:on|at|in|le|am|el|em|il|op|den|la|du))?\s*[:：]?\s*"
            rf"(?:(?:{_DAY}|{_ANY_DATE})(?:[ ,]+(?:at |um |à |a las |às |alle )?{_CLOCK})?|{_CLOCK})",
            r"(?:generated|rendered|served|loaded) in\s*:?\s*\d[\d.,]*\s*(?:ms|s|sec|seconds?|milliseconds?)?",
            r"\b(?:request id|ray id|trace id|session(?: id)?|csrf|nonce)\s*[:#]?\s*(?=[\w.-]*\d)[\w.-]{6,}",
            r"(?:©|\(c\)|copyright)\s*(?:\d{4}\s*[-–]\s*)?\d{4}",
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?=[a-f]*\d)[0-9a-f]{16,}\b",
            rf"\b{_CLOCK}(?=\s*(?:remaining|left|until))|\bends in [\d :hms]+",
        )
    ),
    re.IGNORECASE,
)
_NOISE_WORD = compile_any_of(
    r"\bago\b|\bnow\b|today at|yesterday at|updated|generated|modifi|retrieved|refreshed|\bchecked|\brendered|"
    r"\bserved|\bloaded|\bas of|\bstand\b|zuletzt|letzte|mis à jour|mise à jour|dernière|actuali|atualiz|"
    r"aggiorna|bijgewerkt|gewijzigd|обновл|изменен|更新|수정|view|\breads?\b|visit|\blikes?\b|\bshares?\b|votes?\b|"
    r"\bpoints?\b|follower|subscriber|comments?\b|commentaire|replies|download|\bstars?\b|\bforks?\b|\bwatch|"
    r"\bonline|bookmark|reaction|\bpeople (?:are )?(?:view|watch|look)|\bhits\b|request id|ray id|trace id|"
    r"\bsession|csrf|nonce|copyright|\bremaining|\bleft\b|\buntil\b|ends in|aufruf|besucher|kommentar|"
    r"antworten|abonn|\bvues\b|réponse|j’aime|j'aime|visuali|coment|respuesta|respost|rispost|seguidor|"
    r"me gusta|curtida|mi piace|weergave|bezoek|reacties|visning|wyświetl|komentar|просмотр|посетител|"
    r"комментари|ответ|подписчик|"
    r"閲覧|コメント|いいね|フォロワー|訪問者|浏览|瀏覽|阅读|閱讀|评论|評論|点赞|조회|댓글|좋아요|"
    r"\bvor\b|il y a|\bhace\b|"
    r"\bhá\b|\bha\b|atrás|przed|\bfa\b|geleden|\btemu\b|назад|\bтому\b|önce|trước|\bsedan\b|\bsiden\b|"
    r"\bsitten\b|zpět|前|전"
)
_NOISE_SIGN = re.compile(r"©|\(c\)|[0-9a-f]{16}|[0-9a-f]{8}-")
"""A word or a sign without which no text is noise: they are found ten times faster. Both search text in lower case."""
_AGE_WORD = re.compile(
    r"\b(?:vor|il y a|hace|há|ha|atrás|przed|fa|geleden|temu|назад|тому|önce|trước|sedan|siden|sitten|zpět)\b|[前전]",
    re.IGNORECASE,
)
"""A word of the ages in other languages than English."""
_LONE = re.compile(rf"\W*(?:{_DAY}|{_CLOCK}|{_COUNT})(?:[ ,]+{_CLOCK})?\W*", re.IGNORECASE)
"""A block that is only a date, a time or a number."""
_BOILERPLATE = re.compile(
    r"(?:edit|improve) (?:this|on)\b.{0,40}|share (?:this|on)\b.{0,30}|follow us\b.{0,30}|subscribe\b.{0,40}|"
    r"sign up\b.{0,30}|(?:you (?:may|might) also|related|recommended|trending|most (?:read|popular)|popular|"
    r"read (?:more|next))\b.{0,40}|(?:advertisement|sponsored|promoted|previous|next|table of contents)\W*",
    re.IGNORECASE,
)
"""A short block of the page's frame."""


def remove_noise(text: str) -> str:
    """Return the text without ages, clocks, counts and ids."""
    lower = text.lower()
    if not _NOISE_WORD.search(lower) and not _NOISE_SIGN.search(lower):
        return text
    text = _NOISE.sub(" ", text)
    if not _LIMIT.search(text):
        text = _COUNTS.sub(" ", text)
    return AGE.sub(" ", text) if AGE.search(text) else text


def is_lone_value(text: str) -> bool:
    """Return True if a block is only a date, a time or a number."""
    return _LONE.fullmatch(text) is not None


def is_boilerplate(text: str) -> bool:
    """Return True if a short block belongs to the frame of the page, such as "Share this"."""
    return _BOILERPLATE.fullmatch(text) is not None
