"""Result pages in each engine's markup, for any list of rows."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import quote, urlsplit

from tests.site.engine_frame import NAVIGATION, frame


@dataclass(frozen=True, slots=True)
class EngineRow:
    """Content of one row; `ad` marks it as an advertisement."""

    title: str
    url: str
    snippet: str = "A sentence of some length that says what can be read on this page."
    date: str = ""
    """Date as the engine writes it before the snippet, without the separator."""
    source: str = "Example Press"
    ad: bool = False


hosts = {
    "duckduckgo": ("html.duckduckgo.com", "lite.duckduckgo.com", "duckduckgo.com"),
    "mojeek": ("www.mojeek.com",),
    "googlenews": ("news.google.com",),
    "startpage": ("www.startpage.com",),
    "brave": ("search.brave.com",),
    "bing": ("www.bing.com",),
    "baidu": ("www.baidu.com",),
}
"""Host names of each engine."""


def result_page(engine: str, rows: Sequence[EngineRow], query: str = "a query", *, face: str = "") -> str:
    """Return a page of results."""
    return _PAGES[engine](rows, query, face)


def _shown(row: EngineRow) -> str:
    parts = urlsplit(row.url)
    return escape(f"{parts.hostname}{parts.path}")


def _duckduckgo(rows: Sequence[EngineRow], query: str, face: str) -> str:
    return _DUCKDUCKGO.get(face, _duckduckgo_html)(rows, query)


def _duck_link(row: EngineRow) -> str:
    if row.ad:
        paid = f"https://duckduckgo.com/y.js?ad_domain={urlsplit(row.url).hostname}&u3={quote(row.url, safe='')}"
        return f"//duckduckgo.com/l/?uddg={quote(paid, safe='')}&amp;rut=0a1b"
    return f"//duckduckgo.com/l/?uddg={quote(row.url, safe='')}&amp;rut=0a1b"


def _duck_form(query: str, css: str, action: str) -> str:
    hidden = {"q": query, "s": "10", "nextParams": "", "v": "l", "o": "json", "dc": "11", "api": "d.js"}
    hidden |= {"vqd": "4-123456789", "kl": "us-en"}
    fields = "".join(f"<input type='hidden' name='{name}' value='{escape(hidden[name])}'>" for name in hidden)
    return f"<form class='{css}' action='{action}' method='post'><input type='submit'>{fields}</form>"


def _duckduckgo_html(rows: Sequence[EngineRow], query: str) -> str:
    blocks = "".join(
        f"<div class='result results_links results_links_deep {'result--ad' if row.ad else 'web-result'}'>"
        f"<div class='links_main links_deep result__body'><h2 class='result__title'>"
        f"<a rel='nofollow' class='result__a' href='{_duck_link(row)}'>{escape(row.title)}</a></h2>"
        f"<div class='result__extras'><a class='result__url' href='{_duck_link(row)}'> {_shown(row)} </a>"
        f"</div>"
        f"<a class='result__snippet' href='{_duck_link(row)}'>{escape(row.date + row.snippet)}</a></div>"
        f"</div>"
        for row in rows
    )
    more = f"<div class='nav-link'>{_duck_form(query, 'next', '/html/')}</div>"
    links = f"<div class='serp__results'><div id='links'>{blocks}{more}</div></div>"
    return frame(f"{query} at DuckDuckGo", f"<div id='header'>{NAVIGATION}</div>{links}")


def _duckduckgo_lite(rows: Sequence[EngineRow], query: str) -> str:
    blocks = "".join(
        f"<tr class='{'result-sponsored' if row.ad else ''}'><td valign='top'>{number}.&nbsp;</td><td>"
        f"<a rel='nofollow' href='{_duck_link(row)}' class='result-link'>{escape(row.title)}</a></td></tr>"
        f"<tr class='{'result-sponsored' if row.ad else ''}'><td>&nbsp;</td><td class='result-snippet'>"
        f"{escape(row.snippet)}</td></tr><tr><td>&nbsp;</td><td><span class='link-text'>"
        f"{_shown(row)}</span></td></tr>"
        "<tr><td>&nbsp;</td><td>&nbsp;</td></tr>"
        for number, row in enumerate(rows, 1)
    )
    form = _duck_form(query, "next_form", "/lite/")
    return frame(f"{query} at DuckDuckGo", f"<form></form><table border='0'>{blocks}</table><table>{form}</table>")


def _duckduckgo_drawn(rows: Sequence[EngineRow], query: str) -> str:
    items = "".join(_duckduckgo_item(row) for row in rows if not row.ad)
    body = f"<div id='react-layout'><ol class='react-results--main'>{items}</ol></div>"
    return frame(f"{query} at DuckDuckGo", body)


def _duckduckgo_main(rows: Sequence[EngineRow], query: str) -> str:
    items = "".join(_duckduckgo_item(row) for row in rows if not row.ad)
    script = (
        "<script>setTimeout(() => { const list = document.createElement('ol'); "
        f"list.innerHTML = {json.dumps(items).replace('</', '<' + chr(92) + '/')}; "
        "document.getElementById('react-layout').append(list); }, 50);</script>"
    )
    return frame(f"{query} at DuckDuckGo", f"<div id='react-layout'></div>{script}")


def _duckduckgo_item(row: EngineRow) -> str:
    return (
        "<li data-layout='organic'><article data-testid='result' data-nrn='result'>"
        f"<div><p>{escape(row.source)}</p><a href='{escape(row.url)}' data-testid='result-extras-url-link'>"
        f"<span>{_shown(row)}</span></a></div>"
        f"<h2><a href='{escape(row.url)}' data-testid='result-title-a'><span>{escape(row.title)}</span></a>"
        "</h2>"
        f"<div data-result='snippet'><div><span>{escape(row.date)}</span><span>{escape(row.snippet)}</span>"
        "</div></div></article></li>"
    )


_DUCKDUCKGO = {"lite": _duckduckgo_lite, "main": _duckduckgo_main, "drawn": _duckduckgo_drawn}


def _mojeek(rows: Sequence[EngineRow], query: str, face: str) -> str:
    items = "".join(
        f"<li class='r{number}'><a title='{escape(row.url)}' href='{escape(row.url)}' class='ob'><p "
        f"class='i'>"
        f"<span class='url'>{escape(row.url)}</span></p></a><h2><a class='title' title='{escape(row.url)}' "
        f"href='{escape(row.url)}'>{escape(row.title)}</a></h2><p class='s'>{escape(row.snippet)}</p>"
        f"<p class='more'><a href='/search?q=site%3Aexample.com'>See more results &raquo;</a></p></li>"
        for number, row in enumerate(rows, 1)
        if not row.ad
    )
    bar = "<div class='js-results-cnt-bar'>Results 1 to 10 from 4,321</div>"
    link = f"<a href='/search?q={quote(query)}&amp;s=11'>Next</a>"
    more = f"<div class='pagination'><ul><li>1</li><li>{link}</li></ul></div>"
    return frame(f"{query} - Mojeek Search", f"{NAVIGATION}{bar}<ul class='results-standard'>{items}</ul>{more}")


def _googlenews(rows: Sequence[EngineRow], query: str, face: str) -> str:
    items = "".join(
        f"<item><title>{escape(row.title)} - {escape(row.source)}</title><link>{escape(row.url)}</link>"
        f"<guid isPermaLink='false'>{number}</guid>"
        f"<pubDate>{row.date or 'Tue, 14 Jul 2026 03:33:16 GMT'}</pubDate>"
        f"<description>{escape(_news_description(row))}</description>"
        f"<source url='https://{urlsplit(row.url).hostname}'>{escape(row.source)}</source></item>"
        for number, row in enumerate(rows, 1)
        if not row.ad
    )
    return (
        "<?xml version='1.0' encoding='UTF-8'?><rss version='2.0'><channel><generator>NFE/5.0</generator>"
        f"<title>{escape(query)} - Google News</title><link>https://news.google.com/</link>"
        f"{items}</channel></rss>"
    )


def _news_description(row: EngineRow) -> str:
    return (
        f"<a href='{escape(row.url)}' target='_blank'>{escape(row.title)}</a>&nbsp;&nbsp;"
        f"<font color='#6f6f6f'>{escape(row.source)}</font>"
    )


def _startpage(rows: Sequence[EngineRow], query: str, face: str) -> str:
    blocks = "".join(
        f"<div class='result css-o7i03b'><div class='upper css-4w'><a href='{escape(row.url)}' "
        f"class='wgl-site-title'>"
        f"<span class='link-text'>{escape(row.source)}</span></a><a href='{escape(row.url)}' "
        f"class='wgl-display-url'>"
        f"<span class='link-text'>{escape(row.url)}</span></a></div><a class='result-title result-link "
        f"css-1b' "
        f"href='{escape(row.url)}' data-testid='gl-title-link'><h2 class='wgl-title css-i3'>"
        f"{escape(row.title)}</h2></a>"
        f"<p class='description css-15'>{escape(f'{row.date} ... ' if row.date else '')}"
        f"{escape(row.snippet)}</p>"
        "<div class='anonymous-view-link'><a href='https://us2-browse.startpage.com/av/proxy?ep=4b6d'>"
        "<span>Visit in Anonymous View</span></a></div></div>"
        for row in rows
        if not row.ad
    )
    ads = "".join(
        f"<div class='a-gl-result'><span>Sponsored</span><a href='https://www.googleadservices.com/x?u={quote(row.url)}'>"
        f"<h2>{escape(row.title)}</h2></a><p>{escape(row.snippet)}</p></div>"
        for row in rows
        if row.ad
    )
    return frame(
        "Startpage Search Results",
        f"<form id='search' action='/sp/search' method='post'><input name='query' value='{escape(query)}'>"
        f"<input type='hidden' name='sc' value='Q7Mt5TRq'></form>{ads}<div class='w-gl'>{blocks}</div>",
    )


def _brave(rows: Sequence[EngineRow], query: str, face: str) -> str:
    blocks = "".join(
        f"<div class='snippet svelte-j' data-pos='{number}' data-type='{'ad' if row.ad else 'web'}'>"
        f"<div class='result-wrapper'><div class='result-content'><a href='{_brave_link(row)}' "
        f"class='svelte-1 l1'>"
        f"<div class='site-name-wrapper'><div class='site-name-content'><div class='t-secondary'>"
        f"{escape(row.source)}"
        f"</div><div class='url-wrapper'><cite class='snippet-url'>{urlsplit(row.url).hostname} "
        f"<span>&rsaquo; page</span></cite></div></div></div><div class='title search-snippet-title "
        f"line-clamp-1' "
        f"title='{escape(row.title)}'>{escape(row.title)}</div></a><div class='generic-snippet'>"
        f"<div class='content'>{_brave_date(row)}{escape(row.snippet)}</div></div></div></div></div>"
        for number, row in enumerate(rows)
    )
    module = (
        "<div class='snippet standalone'><div class='title'>People also ask</div>"
        "<a href='https://module.example/answer'>An answer that is no row</a></div>"
    )
    return frame(f"{query} - Brave Search", f"{NAVIGATION}<div id='results'>{module}{blocks}</div>")


def _brave_link(row: EngineRow) -> str:
    return f"https://search.brave.com/a/redirect?click_url={quote(row.url)}" if row.ad else escape(row.url)


def _brave_date(row: EngineRow) -> str:
    return f"<span class='t-secondary'>{escape(row.date)} -</span> " if row.date else ""


def _bing(rows: Sequence[EngineRow], query: str, face: str) -> str:
    items = "".join(_bing_row(row, mobile=face == "mobile") for row in rows)
    return frame(
        f"{query} - Search",
        f"{NAVIGATION}<div id='b_content'><main><ol id='b_results'>{items}<li class='b_pag'>"
        f"<a href='/search?q={quote(query)}&amp;first=11'>Next</a></li></ol></main></div>",
    )


def _bing_row(row: EngineRow, *, mobile: bool) -> str:
    if row.ad:
        link = f"https://www.bing.com/aclick?ld=e8&amp;u={quote(row.url)}"
        return f"<li class='b_ad'><h2><a href='{link}'>{escape(row.title)}</a></h2><p>"
        f"{escape(row.snippet)}</p></li>"
    packed = base64.urlsafe_b64encode(row.url.encode()).decode().rstrip("=")
    link = f"https://www.bing.com/ck/a?!&amp;&amp;p=fda4529e&amp;u=a1{packed}&amp;ntb=1"
    heading = escape(row.title)
    title = (
        f"<div class='b_algoheader'><a href='{link}'><h2>{heading}</h2></a></div>"
        if mobile
        else f"<h2><a target='_blank' href='{link}'>{heading}</a></h2>"
    )
    date = f"<span class='news_dt'>{escape(row.date)}</span>&nbsp;&#0183;&#32;" if row.date else ""
    return (
        f"<li class='b_algo'><div class='b_tpcn'><a class='tilk' href='{link}'><div class='tptt'>"
        f"{escape(row.source)}"
        f"</div><div class='tpmeta'><cite>{escape(row.url)}</cite></div></a></div>{title}"
        f"<div class='b_caption'><p class='b_lineclamp2'><span class='algoSlug_icon' data-priority='2'>"
        f"WEB</span>"
        f"{date}{escape(row.snippet)}</p></div></li>"
    )


def _baidu(rows: Sequence[EngineRow], query: str, face: str) -> str:
    blocks = "".join(_baidu_row(row, number, face) for number, row in enumerate(rows, 1))
    more = "<div class='c-container result-op' tpl='recommend_list'><a href='/s?wd=x'>其他人还在搜</a></div>"
    return frame(f"{query}_百度搜索", f"{NAVIGATION}<div id='content_left'>{blocks}{more}</div>")


def _baidu_row(row: EngineRow, number: int, face: str) -> str:
    if row.ad:
        return (
            f"<div class='EC_result c-container' cmatchid='201' id='300{number}'><h3><a "
            f"href='http://www.baidu.com/baidu.php?url=0f{number}'>{escape(row.title)}</a></h3>"
            f"<div>{escape(row.snippet)}</div><span>广告</span></div>"
        )
    template = "news-normal" if face == "news" else "www_index"
    href = row.url if face == "news" else f"http://www.baidu.com/link?url=token{number}"
    date = f"<span class='c-color-gray2 c-font-normal'>{escape(row.date)}</span>" if row.date else ""
    return (
        f"<div class='result c-container xpath-log new-pmd' srcid='1599' id='{number}' tpl='{template}' "
        f"mu='{escape(row.url)}'><h3 class='c-title t'><a href='{escape(href)}' target='_blank'>"
        f"{escape(row.title)}</a>"
        f"</h3><div class='c-row'>{date}<span class='c-font-normal c-color-text summary-text_56X'>"
        f"{escape(row.snippet)}"
        f"</span></div><div class='c-gap'><span class='c-color-gray'>{escape(row.source)}</span></div></div>"
    )


_PAGES = {
    "duckduckgo": _duckduckgo,
    "mojeek": _mojeek,
    "googlenews": _googlenews,
    "startpage": _startpage,
    "brave": _brave,
    "bing": _bing,
    "baidu": _baidu,
}
