"""Lines in the middle of an article that lead to another one: "read also", in the languages of the web."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.page_statistics import PageStatistics

_LEADS = re.compile(
    r"\W*(?:"
    r"read (?:more|also|next)|also read|see also\s*[:|]|more\s*:|watch(?: (?:now|also|more))?\s*:|"
    r"related(?: (?:articles?|stories|story|posts?|news|reading|content))?\s*[:|]|recommended\s*[:|]|"
    r"don.t miss|you (?:may|might) (?:also )?(?:like|be interested)|"
    r"lea(?: (?:también|tambien|más|mas|además))?\s*:|lea (?:también|tambien|más|además)|lee (?:también|más)|"
    r"leer (?:más|también)|(?:le|te) puede interesar|(?:le|te) recomendamos|"
    r"(?:mira|mire|vea|ver|además|conozca) (?:también|más)\s*:|"
    r"leia (?:também|mais)|veja (?:também|mais)|saiba mais|"
    r"lesen sie (?:auch|mehr|dazu)|lies auch|mehr zum thema|mehr dazu|auch interessant|das könnte|"
    r"(?:à )?lire (?:aussi|également)|à (?:lire|voir) (?:aussi|également)|voir aussi|sur le même sujet|"
    r"leggi anche|leggi (?:di più|tutto)|potrebbe interessarti|"
    r"lees (?:ook|meer)|les også|les mer|läs (?:också|även|mer)|læs også|lue myös|"
    r"czytaj (?:też|także|również|więcej)|zobacz (?:też|także|również)|przeczytaj|"
    r"čtěte (?:také|i)|přečtěte si|čítajte|olvassa el|citește și|"
    r"читайте (?:также|ещё)|смотрите также|по теме|ayrıca okuyun|ilgili haber|baca juga|xem thêm|"
    r"читайте (?:також|більше|ще)|дивіться також|за темою|(?:прочетете|вижте) (?:още|също)|прочитајте|"
    r"pročitajte|preberite (?:tudi|še)|citi(?:ți|ti) și|vezi și|llegeix també|loe (?:ka|lisaks|edasi)|"
    r"lasi arī|lasiet arī|skaityk(?:ite)? (?:taip pat|daugiau)|διαβάστε (?:επίσης|ακόμ[αη]|περισσότερα)|"
    r"ayrıca bak(?:ın|ınız)|bunu da oku|baca (?:selengkapnya|lebih lanjut)|basahin din|soma pia|"
    r"đọc thêm|อ่าน(?:เพิ่มเติม|ต่อ|ข่าวที่เกี่ยวข้อง)|ข่าวที่เกี่ยวข้อง|관련\s?(?:기사|뉴스|글)|더 (?:보기|읽기)\s*:?|"
    r"अधिक पढ़ें|यह भी पढ़ें|ये भी पढ़ें|आगे पढ़ें|আরও? (?:পড়ুন|পড়ুন)|மேலும் படிக்க|ఇది కూడా చదవండి|"
    r"اقرأ (?:أيضا|أيضاً|أيضًا|المزيد|ايضا)|مواضيع ذات صلة|بیشتر بخوانید|همچنین بخوانید|یہ بھی پڑھیں|"
    r"קראו (?:גם|עוד)|עוד בנושא|לקריאה נוספת|"
    r"(?:あわせて|併せて)読みたい|関連(?:記事|ニュース)|【?関連】|相关(?:阅读|新闻|文章)|相關(?:報導|新聞|閱讀)|延伸(?:閱讀|阅读)|推荐阅读|推薦閱讀"
    r")",
    re.IGNORECASE,
)
_MAX_WORDS = 25
_MIN_LINK_SHARE = 0.3


def lead_away(page: PageStatistics, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The chosen blocks that are such a line: short, begun so, and mostly a link."""
    leads = np.zeros(page.n, np.bool_)
    candidates = chosen & (page.lengths <= _MAX_WORDS) & (page.link_share >= _MIN_LINK_SHARE)
    for number in np.flatnonzero(candidates).tolist():
        leads[number] = _LEADS.match(page.texts[number]) is not None
    return leads
