"""The rules of consent.js on boxes of many consent managers and languages, in one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from browsers.scripts import CONSENT

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = pytest.mark.browser

_PLAN = """([body, hasOpenedSettings]) => {
  const article = '<main><h1>Tides</h1><p>' + 'The ferry leaves in the morning. '.repeat(200) + '</p></main>';
  document.body.innerHTML = article + body;
  const script = SCRIPT;
  const plan = script.plan(hasOpenedSettings, false);
  return plan && [plan.way, plan.label || ''];
}""".replace("SCRIPT", CONSENT)

BAR = "position:fixed;bottom:0;left:0;right:0;background:#eee"
LANGUAGES = {
    "ar": ("نحن نستخدم ملفات تعريف الارتباط لتحسين تجربتك.", "قبول الكل", "رفض الكل"),
    "bg": ("Използваме бисквитки за статистика.", "Приеми всички", "Отхвърли всички"),
    "cs": ("Tento web používá cookies ke statistice.", "Přijmout vše", "Odmítnout vše"),
    "da": ("Vi bruger cookies til statistik.", "Tillad alle", "Kun nødvendige"),
    "de": ("Wir benötigen Ihre Zustimmung für Cookies.", "Zustimmen", "Nicht zustimmen"),
    "de-without": ("Wir setzen Cookies ein.", "Alles klar", "Ohne Zustimmung fortfahren"),
    "de-needed": ("Wir nutzen Cookies auf unserer Website.", "Alle zulassen", "Nur notwendige Cookies verwenden"),
    "el": ("Χρησιμοποιούμε cookies για τη βελτίωση της εμπειρίας σας.", "Αποδοχή όλων", "Απόρριψη όλων"),
    "en-no": ("We would like to use cookies.", "Yes, I'm happy", "No, turn them off"),
    "en-not": ("This site uses cookies.", "I agree", "I do not agree"),
    "en-dont": ("We use cookies and pixels.", "Allow", "Don't allow"),
    "en-without": ("We use cookies.", "Accept all", "Continue without accepting"),
    "en-needed": ("We use cookies.", "Accept all", "Necessary cookies"),
    "en-required": ("This site uses cookies and related technologies.", "Accept All Cookies", "Required Only"),
    "es": ("Utilizamos cookies propias y de terceros.", "Aceptar", "Continuar sin aceptar"),
    "es-not": ("Utilizamos cookies propias y de terceros.", "Aceptar todo", "No acepto"),
    "et": ("Kasutame küpsiseid statistika jaoks.", "Nõustu kõigiga", "Keeldu kõigist"),
    "fi": ("Käytämme evästeitä sivuston kehittämiseen.", "Hyväksy kaikki", "Vain välttämättömät"),
    "fr": (
        "Avec votre accord, nos partenaires utilisent des cookies.",
        "Accepter & Fermer",
        "Continuer sans accepter →",
    ),
    "fr-refuse": ("Ce site utilise des traceurs pour mesurer l'audience.", "J'accepte", "Je refuse"),
    "fr-forbid": ("Ce site utilise des cookies.", "Tout accepter", "Interdire tous les cookies"),
    "fr-polite": ("C'est nous, les Cookies ! C'est OK pour vous ?", "OK pour moi", "Non merci"),
    "he": ("אנו משתמשים בעוגיות כדי לשפר את החוויה.", "אשר הכל", "דחה הכל"),
    "hr": ("Koristimo kolačiće za statistiku.", "Prihvati sve", "Odbij sve"),
    "hu": ("Weboldalunk sütiket használ a jobb élmény érdekében.", "Összes elfogadása", "Elutasítás"),
    "id": ("Kami menggunakan cookie untuk statistik.", "Terima semua", "Tolak semua"),
    "it": ("Questo sito utilizza cookie di terze parti.", "Accetto", "Non accetto"),
    "it-needed": ("Questo sito utilizza cookie di terze parti.", "Accetta tutti", "Usa solo i cookie necessari"),
    "ja": ("当サイトではクッキーを使用しています。", "同意する", "同意しない"),
    "ja-all": ("当サイトではCookieを使用しています。", "すべて受け入れる", "すべて拒否する"),
    "ko": ("당사 웹사이트는 쿠키를 사용하여 서비스를 개선합니다.", "모두 동의", "모두 거부"),
    "lt": ("Naudojame slapukus statistikai.", "Priimti visus", "Atmesti visus"),
    "lv": ("Mēs izmantojam sīkdatnes statistikai.", "Pieņemt visas", "Noraidīt visas"),
    "nl": ("Wij gebruiken cookies.", "Akkoord", "Niet akkoord"),
    "nl-needed": ("Wij gebruiken technologieën zoals cookies.", "Accepteren", "Alleen functioneel"),
    "no": ("Vi bruker informasjonskapsler for statistikk.", "Godta alle", "Avslå alle"),
    "pl": ("Używamy plików cookie w celach statystycznych.", "Zaakceptuj wszystkie", "Tylko niezbędne"),
    "pt": ("Utilizamos cookies para estatística.", "Aceitar tudo", "Apenas necessários"),
    "pt-refuse": ("Utilizamos cookies para melhorar sua experiência.", "Aceitar todos", "Recusar todos"),
    "ro": ("Folosim module cookie pentru statistici.", "Acceptă toate", "Refuză toate"),
    "ru": ("Мы используем файлы cookie.", "Принять все", "Отказаться"),
    "sk": ("Používame súbory cookie na štatistiku.", "Prijať všetko", "Odmietnuť všetko"),
    "sl": ("Uporabljamo piškotke za statistiko.", "Sprejmi vse", "Zavrni vse"),
    "sv": ("Vi använder kakor för statistik.", "Acceptera alla", "Neka alla"),
    "th": ("เราใช้คุกกี้เพื่อพัฒนาประสบการณ์ของคุณ", "ยอมรับทั้งหมด", "ปฏิเสธทั้งหมด"),
    "tr": ("Sitemizde çerezler kullanılmaktadır.", "Tümünü kabul et", "Tümünü reddet"),
    "uk": ("Ми використовуємо файли cookie.", "Прийняти все", "Відхилити все"),
    "vi": ("Chúng tôi sử dụng cookie để cải thiện trải nghiệm.", "Chấp nhận tất cả", "Từ chối tất cả"),
    "zh": ("我们使用 Cookie 以改善您的体验。", "接受全部", "仅必要"),
    "zh-tw": ("本網站使用 Cookie 以改善您的體驗。", "全部接受", "全部拒絕"),
}
"""Text, label that accepts and label that refuses."""

BANNERS = {
    "no buttons, but boxes with a pointer": (
        "<p>We use cookies.</p><div style='cursor:pointer'>Accept all</div>"
        "<div style='cursor:pointer'>Reject all</div>",
        ["refuse", "Reject all"],
    ),
    "texts with a tabindex": (
        "<p>Wir verwenden Cookies.</p><span tabindex=0>Alle akzeptieren</span> <span tabindex=0>Ablehnen</span>",
        ["refuse", "Ablehnen"],
    ),
    "sixty partners": (
        "<h2>Privacy</h2><p>We and our partners use cookies.</p>"
        + "".join(f"<div>Partner {number} <button>Details</button></div>" for number in range(60))
        + "<button>Accept all</button><button>Reject all</button>",
        ["refuse", "Reject all"],
    ),
    "a name that dismisses, a label that accepts": (
        '<p>This website uses cookies.</p><a role=button tabindex=0 aria-label="dismiss cookie message">Got it!</a>',
        ["hide", ""],
    ),
    "closing it is an answer": (
        "<p>By closing this notice you agree to our use of cookies.</p><button>Accept</button><button>Close</button>",
        ["hide", ""],
    ),
    "to refuse is to buy": (
        "<p>Read with advertising and cookies, or without.</p><button>Accept and continue</button>"
        "<button>Reject and subscribe</button>",
        ["hide", ""],
    ),
    "to refuse is to leave": (
        "<p>We use cookies for advertising.</p><button>I agree</button>"
        "<button>I do not agree, leave this site</button>",
        ["hide", ""],
    ),
    "more than necessary": (
        "<p>We use cookies.</p><button>Accept necessary and marketing cookies</button><button>Settings</button>",
        ["settings", "Settings"],
    ),
    "settings of consent": (
        "<p>We use cookies.</p><button>Accept all</button><button>Consent preferences</button>",
        ["settings", "Consent preferences"],
    ),
    "more is in place": (
        "<p>We and 120 partners use cookies.</p><button>Accept &amp; continue</button><button>Learn more</button>",
        ["settings", "Learn more"],
    ),
    "categories on the first layer": (
        "<h2>Diese Webseite verwendet Cookies</h2><label><input type=checkbox checked disabled>Notwendig</label>"
        "<label><input type=checkbox checked>Statistik</label><button>Auswahl erlauben</button>"
        "<button>Cookies zulassen</button>",
        ["save", "Auswahl erlauben"],
    ),
    "the age of consent": (
        "<p>Wir nutzen Cookies. Wenn Sie unter 16 Jahre alt sind, müssen Ihre Eltern zustimmen.</p>"
        "<button>Alle akzeptieren</button><button>Nur essenzielle Cookies akzeptieren</button>",
        ["refuse", "Nur essenzielle Cookies akzeptieren"],
    ),
    "cookies that keep a person signed in": (
        "<p>We use cookies to measure, to keep you logged in and to remember your basket.</p>"
        "<button>Accept</button><button>Reject</button>",
        ["refuse", "Reject"],
    ),
    "a link to settings elsewhere": (
        "<p>Let us know you agree to cookies.</p><button>Yes, I agree</button>"
        "<a href='/how-can-i-change-my-settings'>No, take me to settings</a>",
        ["hide", ""],
    ),
    "a link that refuses": (
        "<p>We use cookies.</p><a href='?cookies=yes'>Accept cookies</a> <a href='?cookies=no'>Reject cookies</a>",
        ["refuse", "Reject cookies"],
    ),
    "a link that explains": (
        "<p>We use cookies.</p><a href='/cookies'>How to refuse cookies</a><button>OK</button>",
        ["hide", ""],
    ),
}
"""Banner and what is done with it: way and label."""

OTHERS = {
    "age": "<h2>Altersprüfung</h2><p>Sind Sie mindestens 18 Jahre alt? Mit dem Betreten stimmen Sie Cookies zu.</p>"
    "<button>Ja, ich stimme zu</button><button>Nein, ablehnen</button>",
    "age in French": "<h2>Avez-vous l'âge légal ?</h2><p>Vous devez être majeur. Confidentialité.</p>"
    "<button>J'accepte et j'ai plus de 18 ans</button><button>Refuser</button>",
    "newsletter": "<h2>Join our newsletter</h2><p>Get 10% off. See our privacy policy.</p><input type=email>"
    "<button>Subscribe</button><button>No thanks</button>",
    "sign-in": "<h2>Anmelden</h2><input type=email><button>Weiter und Datenschutz akzeptieren</button>"
    "<p>Datenschutz und Cookies</p><button>Ablehnen</button>",
    "chat": "<p>Chat with support. This chat is recorded, see our privacy notice.</p>"
    "<button>I agree, start chat</button><button>No thanks</button>",
    "paywall": "<h2>Subscribe to keep reading</h2><p>Read our privacy policy.</p>"
    "<button>Accept offer</button><button>No thanks</button>",
    "basket": "<h2>Votre panier</h2><p>Cookies au chocolat, 2 boîtes</p>"
    "<button>Refuser</button><button>Valider la commande</button>",
    "Dutch basket": "<h2>Winkelwagen</h2><p>Chocolate cookies</p>"
    "<button>Weigeren</button><button>Akkoord en afrekenen</button>",
    "invitation": "<h2>Friend request</h2><p>Ada wants to share her calendar.</p>"
    "<button>Accept</button><button>Decline</button>",
}
"""Boxes that ask something else."""
HEADER = (
    '<header style="position:fixed;top:0;left:0;right:0"><a href="/">Cookie Bakery</a> <a href="/p">Privacy</a>'
    "<button>Account settings</button> <a href='#s'>Continue shopping</a></header>"
)
REQUESTS = (
    "<div><h2>Requests</h2><p>5 open requests for access to the consent archive</p>"
    "<button>Approve all</button><button>Reject all</button><button>Settings</button></div>"
)


async def plans(browser: Browser, bodies: dict[str, str]) -> dict[str, Any]:
    """Return way and label of the first step for each body, or None if it has no banner."""
    page = await browser.new_page(viewport={"width": 1280, "height": 900})
    try:
        return {name: await page.evaluate(_PLAN, [body, False]) for name, body in bodies.items()}
    finally:
        await page.close()


def boxed(content: str) -> str:
    return f'<div class="x9" style="{BAR}">{content}</div>'


async def test_the_refusal_is_found_in_many_languages(plain_browser: Browser) -> None:
    bodies = {
        name: boxed(f"<p>{text}</p><button>{accept.replace('&', '&amp;')}</button><button>{refuse}</button>")
        for name, (text, accept, refuse) in LANGUAGES.items()
    }
    found = await plans(plain_browser, bodies)
    assert found == {name: ["refuse", refuse] for name, (_, _, refuse) in LANGUAGES.items()}


async def test_each_banner_gets_the_step_that_gives_no_consent(plain_browser: Browser) -> None:
    found = await plans(plain_browser, {name: boxed(content) for name, (content, _) in BANNERS.items()})
    assert found == {name: step for name, (_, step) in BANNERS.items()}


async def test_boxes_that_ask_something_else_stay(plain_browser: Browser) -> None:
    bodies = {name: boxed(content) for name, content in OTHERS.items()} | {"header": HEADER}
    found = await plans(plain_browser, bodies)
    assert found == dict.fromkeys(bodies)


async def test_a_list_of_requests_is_content(plain_browser: Browser) -> None:
    page = await plain_browser.new_page(viewport={"width": 1280, "height": 900})
    try:
        await page.set_content(REQUESTS + "<main><p>" + "The ferry leaves. " * 200 + "</p></main>")
        assert await page.evaluate(f"({CONSENT}).plan(false, false)") is None
    finally:
        await page.close()
