"""Names of months in some forty languages: how they begin, and whole where letters carry marks."""

from __future__ import annotations

_BEGINNINGS = (
    "jan ene gen ian jaa янв яну січ јан led sty siječ tam oca ιαν ינו ינוא sau בינו ينا",
    "feb fév fev fevr vee lut úno hel şub velj фев лют φεβ vas פבר בפבר فبر شبا",
    "mar mär mrt maa мар бер бре bře ožu μαρ kov מרץ במרץ مار آذا",
    "apr abr avr ápr апр кві kwi dub huh nis travn απρ bal אפר באפר أبر ابر نيس",
    "may mai maj mei mag máj maí мая май мај тра kvě tou svib μαϊ μάι μαΐ geg במאי ماي أيا",
    "jun jui giu jún iun juun июн јун юни чер cze čer kes haz lipnj ιουν jūn birž יונ ביונ يون حزي",
    "jul juil lug júl iul juul июл јул юли лип lip hei tem srpnj ιουλ jūl liep יול ביול يول تمو",
    "aug ago aoû aou avg agu ágú авг сер sie srp elo ağu kol αυγ rugpj אוג באוג أغس اغس",
    "sep set syy сен сеп вер wrz zář eyl ruj szept σεπ rugsė ספט בספט سبت أيل",
    "oct okt ott out oca окт жов paź říj lok eki οκτ spal אוק באוק أكت اكت",
    "nov noi noe ноя ное лис lis mar kas stud νοε lapk נוב בנוב نوف",
    "dec dez dic dez det des déc дек дец гру gru pro jou ara δεκ דצמ בדצמ ديس",
)
"""In some languages two share a beginning; there the longer one decides, or the names below."""
_MONTHS = {
    beginning: number
    for number, row in reversed([*enumerate(_BEGINNINGS, start=1)])
    for beginning in row.split()
}
_WHOLE = {"marras": 11, "listop": 11, "lokak": 10}

_MARKED = (
    "มกราคม ม.ค. जनवरी জানুয়ারি",
    "กุมภาพันธ์ ก.พ. फरवरी फ़रवरी ফেব্রুয়ারি",
    "มีนาคม มี.ค. मार्च মার্চ",
    "เมษายน เม.ย. अप्रैल এপ্রিল",
    "พฤษภาคม พ.ค. मई মে",
    "มิถุนายน มิ.ย. जून জুন",
    "กรกฎาคม ก.ค. जुलाई জুলাই",
    "สิงหาคม ส.ค. अगस्त আগস্ট",
    "กันยายน ก.ย. सितंबर सितम्बर সেপ্টেম্বর",
    "ตุลาคม ต.ค. अक्टूबर अक्तूबर অক্টোবর",
    "พฤศจิกายน พ.ย. नवंबर नवम्बर নভেম্বর",
    "ธันวาคม ธ.ค. दिसंबर दिसम्बर ডিসেম্বর",
)
MARKED = {name: number for number, row in enumerate(_MARKED, start=1) for name in row.split()}
"""Thai, Hindi, Bengali: their vowels are no letters to a regular expression."""


def number(name: str) -> int | None:
    """The month by the longest beginning that is known; `juillet` is not `juin`, nor `marraskuuta` March."""
    name = name.lower()
    whole = next((month for beginning, month in _WHOLE.items() if name.startswith(beginning)), None)
    return whole or next((_MONTHS[name[:size]] for size in (5, 4, 3) if name[:size] in _MONTHS), None)
