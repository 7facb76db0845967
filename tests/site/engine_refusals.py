"""Engine pages without results: nothing found, and block pages."""

from __future__ import annotations

from html import escape

from tests.site.engine_frame import NAVIGATION, frame


def none_page(engine: str, query: str = "a query") -> str:
    """Return the engine's page for no results."""
    return _NONE[engine](query)


def wall_page(engine: str) -> str:
    """Return the engine's block page, as clients without scripts see it."""
    return _WALLS[engine]


_NONE = {
    "duckduckgo": lambda query: frame(
        f"{query} at DuckDuckGo",
        f"<div id='links'><div class='result results_links results_links_deep web-result'><div "
        f"class='links_main "
        f"result__body result--no-result'><div class='no-results'>No more results found for <b>"
        f"{escape(query)}</b>."
        "</div></div></div></div>",
    ),
    "mojeek": lambda query: frame(
        f"{query} - Mojeek Search",
        f"<div class='results'><p>No pages found matching: <strong>{escape(query)}</strong></p></div>",
    ),
    "googlenews": lambda query: (
        f"<?xml version='1.0' encoding='UTF-8'?><rss version='2.0'><channel><title>{escape(query)}</title>"
        "</channel></rss>"
    ),
    "startpage": lambda query: frame(
        "Startpage Search Results",
        "<div class='no-results'><h2>Sorry, there are no results for this search.</h2></div>",
    ),
    "brave": lambda query: frame(
        f"{query} - Brave Search", "<div id='results'><p>Not many great matches came back for your search</p></div>"
    ),
    "bing": lambda query: frame(
        f"{query} - Search",
        f"<ol id='b_results'><li class='b_no'><h1>There are no results for <strong>"
        f"{escape(query)}</strong></h1>"
        "<ul><li>Check your spelling</li></ul></li></ol>",
    ),
    "baidu": lambda query: frame(
        f"{query}_百度搜索",
        "<div id='content_left'></div><div class='content_none'><div class='nors'>"
        "<p>抱歉，未找到相关结果。</p></div></div>",
    ),
}

_WALLS = {
    "duckduckgo": frame(
        "DuckDuckGo",
        "<form id='challenge-form' action='//duckduckgo.com/anomaly.js?sv=html&amp;cc=botnet' method='POST'>"
        "<div class='anomaly-modal__title'>Unfortunately, bots use DuckDuckGo too.</div>"
        "<div class='anomaly-modal__description'>Select all squares containing a duck:</div></form>",
    ),
    "mojeek": frame(
        "Captcha",
        "<div class='captcha-wrap'><h1>Captcha</h1><noscript>JavaScript is required to complete this "
        "challenge"
        "</noscript></div><script src='/js/page_specific/altcha.js'></script>",
    ),
    "googlenews": frame(
        "https://news.google.com/rss/search?q=a",
        "<form id='captcha-form' action='index' method='post'></form><div>About this page<br>Our systems "
        "have detected "
        "unusual traffic from your computer network.</div>",
    ),
    "startpage": frame(
        "Verifying your request...",
        "<h1>Loading...</h1><script id='anubis_challenge' type='application/json'>"
        '{"rules":{"algorithm":"fast","difficulty":4}}</script>',
        "<script src='/.within.website/x/cmd/anubis/static/js/main.mjs' type='module'></script>",
    ),
    "brave": frame("PoW Captcha - Brave Search", "<script>fetch('/api/captcha/pow?brave=0')</script>"),
    "bing": frame(
        "a query - Search",
        f"{NAVIGATION}<div class='captcha'><h1 class='captcha_header'>One last step</h1>Please solve the "
        f"challenge "
        "below to continue</div>",
        "<script src='https://challenges.cloudflare.com/turnstile/v0/api.js' async></script>",
    ),
    "baidu": frame(
        "百度安全验证", "<div class='passMod_dialog-wrapper'>拖动左侧滑块使图片为正</div><div id='spin-0'></div>"
    ),
}
