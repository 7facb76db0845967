"""Write browsers/egress/third_parties.txt from the entities of the npm package third-party-web.

python -m devtools.third_parties entities-httparchive.json LICENSE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "browsers/egress/third_parties.txt"

CATEGORIES = {
    "ad": "ad",
    "analytics": "analytics",
    "tag-manager": "tag-manager",
    "social": "social",
    "marketing": "marketing",
    "customer-success": "chat",
    "consent-provider": "consent",
}
"""Categories of the source that may be refused, and their names here."""

MOVED = {
    "Clarity": "analytics",
    "New Relic": "analytics",
    "Cookiebot": "consent",
    "Cookie-Script.com": "consent",
    "Cookie Reports": "consent",
    "TRUSTe": "consent",
    "TrustArc": "consent",
    "iubenda": "consent",
    "OneSignal": "marketing",
}
"""Entities that the source counts as utilities."""

_SITES = (
    "AOL / Oath / Verizon Media,Auto Link Maker,Better Business Bureau,Bing Ads,BuzzFeed,Business Week,"
    "Conversion Labs,Flipboard,Gravatar,Guardian Media,HP Optimost,Kakao,LINE Corporation,LiveJournal,Meetrics,"
    "Microsoft XBox Live,News,Onet,PIXNET,Quora Ads,Rakuten Marketing,Reklama,Salesforce.com,Smart AdServer,"
    "StackExchange,Tumblr,Unidays,Wayfair,Wowcher,Yahoo!,Yahoo! JAPAN Ads,Yahoo! Ad Exchange,Zoover,eBay,"
    "SAS Institute,Flipp,Tivo"
)
_HOSTING = (
    "Amplience,Bigcommerce,Ezoic,Hatena Blog,Oracle,Pagesuite,RebelMouse,RightNow Service Cloud,Tray Commerce,"
    "Unbounce,ZenDesk,Ekm Systems,Ziff Davis Tech,RichRelevance"
)
_CONTENT = (
    "Apester,Bazaarvoice,Feefo.com,Flixmedia,Flockler,Judge.me,LockerDome,Net Reviews,Opinion Stage,ObjectPlanet,"
    "PollDaddy (Automattic),Polldaddy,PowerReviews,Pixlee,Curalate,Reevoo,Reviews.co.uk,Reviews.io,Stamped.io,"
    "Stackla PTY,SurveyMonkey,QuestionPro,Qualtrics,Tagboard,Truefit,Trust Pilot,VouchedFor,Yotpo,Zmags,eKomi,"
    "Bizrate,Searchanise,Clerk.io ApS,Nosto,BloomReach,Oracle Recommendations On Demand,RD Station,Gleam"
)
_PLAYERS = (
    "Disqus,Spot.IM,Viafoura,audioBoom,Podsights,LongTail Ad Solutions,Connatix,Mux,Brightcove,STINGRAY,AdsWizz,"
    "SundaySky"
)
_SIGN_IN = "Gigya,Janrain,LoginRadius,Okta,OneAll,piano"
KEPT = frozenset(",".join((_SITES, _HOSTING, _CONTENT, _PLAYERS, _SIGN_IN)).split(","))
"""Entities that the source counts as ads and the like, whose hosts also deliver sites, reviews, players or sign-in."""

DROPPED = frozenset(
    "cdninstagram.com fbcdn.net fbcdn-photos-e-a.akamaihd.net licdn.com linkedin.com www.linkedin.com pinimg.com "
    "redditstatic.com twimg.com twitpic.com vine.co delvenetworks.com limelight.com llnwd.net imageg.net hubspot.com "
    "hubspot.net hsforms.com hsforms.net hsstatic.net hubapi.com mailchimp.com list-manage.com".split()
)
"""Hosts of refused entities that deliver images, videos, forms or whole sites to others."""

ADDED = ("ad bat.bing.com", "ad snap.licdn.com", "ad sascdn.com smartadserver.com")
"""Trackers of entities whose other hosts are content."""


def rows(entities: list[dict[str, object]]) -> list[str]:
    """Return one line for each entity: category and hosts; a host stands for its subdomains too."""
    lines = []
    for entity in entities:
        category = MOVED.get(str(entity["name"])) or CATEGORIES.get(str(entity["category"]))
        if category is None or entity["name"] in KEPT:
            continue
        domains = entity["domains"]
        assert isinstance(domains, list)
        hosts = {str(domain).removeprefix("*.") for domain in domains} - DROPPED
        if hosts:
            lines.append(" ".join((category, *sorted(hosts))))
    return sorted((*lines, *ADDED))


def main(source: str, license_file: str) -> None:
    """Write the file."""
    notice = [
        "Hosts of third parties, from third-party-web 0.30 (https://github.com/patrickhulce/third-party-web), which",
        "aggregates HTTP Archive. One entity a line: category, then hosts with their subdomains. Written by",
        "devtools/third_parties.py; the source has this license:",
        "",
        *Path(license_file).read_text(encoding="utf-8").strip().splitlines(),
    ]
    comments = [f"# {line}".rstrip() for line in notice]
    found = rows(json.loads(Path(source).read_text(encoding="utf-8")))
    FILE.write_text("\n".join((*comments, *found, "")), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
