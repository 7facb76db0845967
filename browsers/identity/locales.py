"""Accepted languages, locale and time zone of a browser for a language tag."""

from __future__ import annotations

import functools

_ENGLISH = ("en-US", "en")
"""Languages that every browser accepts last."""

DEFAULT_TIMEZONE = "America/New_York"
"""Time zone of a language or region that is not in the tables."""

REGION_TIMEZONES = dict(
    pair.split("=")
    for pair in (
        "AE=Asia/Dubai AR=America/Argentina/Buenos_Aires AT=Europe/Vienna AU=Australia/Sydney BE=Europe/Brussels "
        "BG=Europe/Sofia BR=America/Sao_Paulo CA=America/Toronto CH=Europe/Zurich CL=America/Santiago CN=Asia/Shanghai "
        "CO=America/Bogota CZ=Europe/Prague DE=Europe/Berlin DK=Europe/Copenhagen EE=Europe/Tallinn EG=Africa/Cairo "
        "ES=Europe/Madrid FI=Europe/Helsinki FR=Europe/Paris GB=Europe/London GR=Europe/Athens HK=Asia/Hong_Kong "
        "HR=Europe/Zagreb HU=Europe/Budapest ID=Asia/Jakarta IE=Europe/Dublin IL=Asia/Jerusalem IN=Asia/Kolkata "
        "IR=Asia/Tehran IT=Europe/Rome JP=Asia/Tokyo KR=Asia/Seoul LT=Europe/Vilnius LV=Europe/Riga "
        "MX=America/Mexico_City MY=Asia/Kuala_Lumpur NG=Africa/Lagos NL=Europe/Amsterdam NO=Europe/Oslo "
        "NZ=Pacific/Auckland PE=America/Lima PH=Asia/Manila PK=Asia/Karachi PL=Europe/Warsaw PT=Europe/Lisbon "
        "RO=Europe/Bucharest RS=Europe/Belgrade RU=Europe/Moscow SA=Asia/Riyadh SE=Europe/Stockholm SG=Asia/Singapore "
        "SI=Europe/Ljubljana SK=Europe/Bratislava TH=Asia/Bangkok TR=Europe/Istanbul TW=Asia/Taipei UA=Europe/Kyiv "
        "US=America/New_York VN=Asia/Ho_Chi_Minh ZA=Africa/Johannesburg "
    ).split()
)
"""Time zone in which most people of a region live."""

_LANGUAGE_REGIONS = dict(
    pair.split("=")
    for pair in (
        "ar=EG bg=BG cs=CZ da=DK de=DE el=GR en=US es=ES et=EE fa=IR fi=FI fil=PH fr=FR he=IL hi=IN hr=HR hu=HU id=ID "
        "it=IT ja=JP ko=KR lt=LT lv=LV ms=MY nb=NO nl=NL no=NO pl=PL pt=BR ro=RO ru=RU sk=SK sl=SI sr=RS sv=SE th=TH "
        "tr=TR uk=UA ur=PK vi=VN zh=CN "
    ).split()
)
"""Region of most readers of a language, for tags without a region."""


@functools.lru_cache(maxsize=100)
def list_accepted_languages(language: str) -> tuple[str, ...]:
    """Return the values of `navigator.languages`: de-DE gives de-DE, de, en-US, en."""
    base, _, _ = language.partition("-")
    return tuple(dict.fromkeys((language, base, *_ENGLISH)))


def format_posix_locale(language: str) -> str:
    """Return the value of the variable LANG: en-US gives en_US.UTF-8."""
    base, region = _split_tag(language)
    return f"{base}_{region}.UTF-8" if region else f"{base}.UTF-8"


def find_timezone(language: str) -> str:
    """Return the time zone of the tag's region or of its language's usual region, or New York if unknown."""
    _, region = _split_tag(language)
    return REGION_TIMEZONES.get(region, DEFAULT_TIMEZONE)


def _split_tag(language: str) -> tuple[str, str]:
    """Return base language and region of a tag. The script is dropped, and a missing region is added."""
    base, *others = language.split("-")
    regions = (part.upper() for part in others if len(part) == 2)
    return base.lower(), next(regions, _LANGUAGE_REGIONS.get(base.lower(), ""))
