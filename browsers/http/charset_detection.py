"""Detect the encoding of bytes that declare none, or a wrong one, from the letters they decode to.

Text decoded with a wrong encoding still consists of letters, but of rare ones. For Chinese, Japanese and Korean, one to
three hundred frequent characters are used: they make up two fifths to four fifths of any text, and a twentieth of text
decoded with a wrong encoding. UTF-8 and UTF-16 are excluded before (see `charset`).
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_UPPER_CASE = 0.5
"""Score of a capital relative to its lower-case letter: a wrong encoding often swaps the cases."""
_RAREST = 0.15
"""Score of the rarest letter of a language relative to the most frequent."""
_DECAY = 3.5
"""Frequencies of letters fall by a factor of e this many times over the alphabet. Accurate enough for any language."""


@dataclass(frozen=True, slots=True)
class Alphabet:
    """Scores of the non-ASCII letters of one language."""

    worth: Mapping[str, float]
    """Score by letter. Text in the language averages about 1."""
    latin: bool
    """True if the letters stand among ASCII letters."""


def _alphabet(letters: str, *, latin: bool = False) -> Alphabet:
    """Create an alphabet from its lower-case letters, the most frequent first."""
    last = max(len(letters) - 1, 1)
    ranks = [1 - (1 - _RAREST) * rank / last for rank in range(len(letters))]
    frequencies = [math.exp(-_DECAY * rank / len(letters)) for rank in range(len(letters))]
    usual = sum(r * f for r, f in zip(ranks, frequencies, strict=True)) / sum(frequencies)
    small = {letter: rank / usual for letter, rank in zip(letters, ranks, strict=True)}
    capital = {letter.upper(): _UPPER_CASE * worth for letter, worth in small.items()}
    return Alphabet(MappingProxyType(capital | small), latin)


def _latin(letters: str) -> Alphabet:
    return _alphabet(letters, latin=True)


_HANS = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多"
    "经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性"
    "知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次"
    "度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建"
    "务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路"
    "记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运"
)
_HANT = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多"
    "經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性"
    "知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次"
    "度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建"
    "務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路"
    "記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運"
)
_HANGUL = (
    "이다는의에을를가고하지은로기사한도리자어서나시아인대그라정만보해일수있스게들부전으원적여제과조상동국것니면장주비구오공선유소우성"
    "안위신경내년중모화마문당등연발요거진무실미관계세물회개생방분학었했음통던야러려바할되된와두및후개최재용입습까트드터때말건체명"
)
_KANA = "".join(map(chr, range(0x3041, 0x3097))) + "".join(map(chr, range(0x30A1, 0x30FD)))
_WIDE_MARKS = "、。，！？：；（）「」『』《》〈〉【】·…—－　～・"

_FREQUENT_CHARACTERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "gb18030": frozenset(_HANS + _WIDE_MARKS),
        "big5hkscs": frozenset(_HANT + _WIDE_MARKS),
        "cp932": frozenset(_KANA + _WIDE_MARKS + "日本人年月一大会国時分中行出見上生者事十長東京新"),
        "euc_jp": frozenset(_KANA + _WIDE_MARKS + "日本人年月一大会国時分中行出見上生者事十長東京新"),
        "cp949": frozenset(_HANGUL + _WIDE_MARKS),
    }
)
"""Frequent characters by two-byte encoding."""

_RUSSIAN = _alphabet("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё")
_UKRAINIAN = _alphabet("оанивіетрслкудмпязьбгйчхцжїюєшщфґ")
_BULGARIAN = _alphabet("аиоетнрсвлкдпмзяъубгчйжшщхцфюь")
_SERBIAN = _alphabet("аоиенрстујквдпмлзгбњчћшжљхцђфџ")
_BELARUSIAN = _alphabet("анірыеяокстлдмўпзуьгбйэчшцхжёюф")
_CYRILLIC = (_RUSSIAN, _UKRAINIAN, _BULGARIAN, _SERBIAN, _BELARUSIAN)

_GREEK = _alphabet("αοιετνσςηυρπκμλόίάέήθδγωύχφώβξζψϊϋΐΰ")
_HEBREW = _alphabet("יוהלאתרמבשנדכקעםפחטןגצסזךףץ")
_ARABIC = _alphabet("الينمورتبةعدسفهكقحجأشطصخإذىضغثزءئآظؤ،؟؛")
_THAI = _alphabet("าน่รอก้เมทยีลวงัิสดหตะบแคขืจปุใูไพโผช์ถซ็ำธศษฟณญๆภฐฝึ")

_WESTERN = (
    _latin("äüöß"),  # German
    _latin("éèàêçâûùîôïœëæÿ"),  # French
    _latin("óíáéñúü¿¡ºª"),  # Spanish
    _latin("ãçáéíóêõâúôàºª"),  # Portuguese
    _latin("èàùòéì"),  # Italian
    _latin("äåö"),  # Swedish, Finnish
    _latin("åøæéòôó"),  # Danish, Norwegian
    _latin("íáðéþóöúæý"),  # Icelandic
    _latin("ëéïèóöüê"),  # Dutch
    _latin("àéèçíóòúïü·"),  # Catalan
)
_CENTRAL = (
    _latin("łęąóżśćńź"),  # Polish
    _latin("íáéěřčýžůšúňťóď"),  # Czech
    _latin("áíčéýžšúľťôňäóďĺŕ"),  # Slovak
    _latin("áéöóőüíúű"),  # Hungarian
    _latin("ăţîşâ"),  # Romanian
    _latin("čšžćđ"),  # Croatian, Slovene
)
_TURKISH = (_latin("ıüşğçöâîû"),)
_BALTIC = (_latin("ėąųšžįčūę"), _latin("āīēšūžļņģčķ"), _latin("äõüöšž"))

_ALPHABETS: Mapping[str, tuple[Alphabet, ...]] = MappingProxyType(
    {
        "cp1252": _WESTERN,
        "cp1251": _CYRILLIC,
        "cp1250": _CENTRAL,
        "cp1254": _TURKISH,
        "iso8859_2": _CENTRAL,
        "cp1253": (_GREEK,),
        "cp1255": (_HEBREW,),
        "cp1256": (_ARABIC,),
        "cp1257": _BALTIC,
        "cp874": (_THAI,),
        "koi8_r": (_RUSSIAN,),
        "koi8_u": (_UKRAINIAN,),
        "iso8859_5": _CYRILLIC,
        "cp866": (_RUSSIAN,),
        "iso8859_7": (_GREEK,),
        "iso8859_6": (_ARABIC,),
    }
)
"""Alphabets by one-byte encoding. More common encodings come first and win ties."""


_SAMPLE_BYTES = 32 * 1024
_WIDE_SAMPLE_BYTES = 8 * 1024
"""Bytes that suffice to distinguish any two encodings, in two milliseconds. Pages that begin with a language menu need
more than a few kilobytes."""
_WINDOW_BYTES = 1024 * 1024
"""Bytes, from the first non-ASCII byte, in which the sample is collected."""
_AROUND_BYTES = 12
"""Maximum of ASCII bytes that the sample keeps before and after other bytes. They show the words around them."""

_FREQUENT = 0.35
"""Minimum share of frequent characters in correctly decoded Chinese, Japanese and Korean text."""
_WIDE_ENOUGH = 0.57
"""Minimum score of Chinese, Japanese and Korean text. Wrongly decoded text scores 0.25."""
_MAX_ISOLATED_SHARE = 0.5
"""Maximum share of non-ASCII bytes that stand between ASCII bytes. Text with more is probably in a Latin language in
which a few byte pairs happen to be frequent characters."""
_MIN_ISOLATED_WEIGHT = 16
"""Non-ASCII bytes. With fewer, and a greater share of them isolated, two-byte encodings are not considered."""
_MAX_UNDECODABLE_SHARE = 0.03
"""Share of undecodable characters that excludes a two-byte encoding."""

_UNLIKELY: Mapping[str, float] = MappingProxyType({"cp1250": 0.05, "iso8859_2": 0.05, "cp1254": 0.05, "cp1257": 0.1})
"""Score deduction in favor of Western European encodings that share most letters with these."""

_QUOTE = 0.7
"""Score of a quotation mark or dash; a letter of the language scores about 1."""
_OTHER_LETTER = 0.0
"""Score of a letter that the language does not use."""
_SYMBOL = -1.0
"""Score of a symbol inside a word."""
_UNREADABLE = -2.0
"""Score of a control character or an undecodable byte."""
_ALONE_COST = 2.0
"""Deduction for a letter without neighbors in scripts other than Latin: they have few words of one letter, and wrongly
decoded Italian has many."""

_HIGH = re.compile(rb"[\x80-\xff]")
_RUN = re.compile(rb"[\x80-\xff]{1,4096}(?:[^<>\x80-\xff]{1,24}[\x80-\xff]{1,4096}){0,1000}")
_BESIDE_ASCII = re.compile(rb"(?<=[A-Za-z])[\x80-\xff]|[\x80-\xff](?=[A-Za-z])")
_ISOLATED_BYTE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_ALONE = re.compile(rb"(?<![A-Za-z\x80-\xff])[\x80-\xff](?![A-Za-z\x80-\xff])")
_ASCII = bytes(range(0x80))
_QUOTES_AND_DASHES = frozenset("\u00a0«»–—“”„‘’‚…•\u00ad‹›")
"""Characters that occur beside the letters of any language."""


@dataclass(frozen=True, slots=True)
class CharsetGuess:
    """A Python codec and the score of the text decoded with it: 1 is perfect, 0 and less is noise."""

    codec: str
    score: float
    weight: int
    """Number of bytes above ASCII in the sample."""


@dataclass(frozen=True, slots=True)
class _Sample:
    text: bytes
    high: Mapping[int, int]
    """Count of each byte above ASCII."""
    beside: Mapping[int, int]
    """Number of times that each of them stands beside an ASCII letter."""
    alone: Mapping[int, int]
    """Number of times that each of them stands beside no letter."""


def detect_charset(body: bytes) -> CharsetGuess:
    """Return the codec with the best score for a body, or cp1252 if no score is positive.

    Two-byte encodings are tried first. If none reaches `_WIDE_ENOUGH`, or most non-ASCII bytes stand alone, one-byte
    encodings are compared too, by their letters.
    """
    sample = _sample(body)
    weight = sum(sample.high.values())
    scores = {codec: _wide_score(sample, codec) for codec in _FREQUENT_CHARACTERS}
    best = max(scores, key=scores.__getitem__)
    is_isolated = len(_ISOLATED_BYTE.findall(sample.text)) > _MAX_ISOLATED_SHARE * weight
    if is_isolated or scores[best] < _WIDE_ENOUGH:
        wide = scores if weight >= _MIN_ISOLATED_WEIGHT or not is_isolated else {}
        # The first of equal scores wins, and more common encodings come first.
        scores = {codec: _narrow_score(sample, codec) - _UNLIKELY.get(codec, 0.0) for codec in _ALPHABETS} | wide
        best = max(scores, key=scores.__getitem__)
        if scores[best] <= 0:
            best = "cp1252"
    return CharsetGuess(best, scores[best], weight)


def score_charset(body: bytes, codec: str) -> float | None:
    """Return the score of a body in an encoding, or None for encodings without data."""
    sample = _sample(body)
    if codec in _FREQUENT_CHARACTERS:
        return _wide_score(sample, codec)
    return _narrow_score(sample, codec) if codec in _ALPHABETS else None


def _sample(body: bytes) -> _Sample:
    text = _text_of(body)
    return _Sample(
        text,
        Counter(text.translate(None, _ASCII)),
        Counter(match[0] for match in _BESIDE_ASCII.findall(text)),
        Counter(match[0] for match in _ALONE.findall(text)),
    )


def _text_of(body: bytes) -> bytes:
    """Return the non-ASCII parts of the text, each with a few bytes around it."""
    first = _HIGH.search(body)
    if first is None:
        return b""
    start = max(first.start() - _AROUND_BYTES, 0)
    window = body[start : start + _WINDOW_BYTES]
    runs: list[bytes] = []
    size = end = 0
    for run in _RUN.finditer(window):
        # A run that overlaps the surroundings of the last one continues it: a cut could split a character.
        begin = end if run.start() < end else run.start() - _AROUND_BYTES
        if begin != end:
            runs.append(b"\n")
        end = run.end() + _AROUND_BYTES
        runs.append(window[max(begin, 0) : end])
        size += len(runs[-1])
        if size >= _SAMPLE_BYTES:
            break
    return b"".join(runs)[:_SAMPLE_BYTES]


def _wide_score(sample: _Sample, codec: str) -> float:
    """Return the share of frequent characters among all non-ASCII ones.

    The share is relative to `_FREQUENT` and at most 1; it is 0 if too much is undecodable.
    """
    counts = Counter(sample.text[:_WIDE_SAMPLE_BYTES].decode(codec, "replace"))
    total = sum(count for char, count in counts.items() if char > "\x7f")
    if not total or counts["\ufffd"] > _MAX_UNDECODABLE_SHARE * total:
        return 0.0
    frequent = _FREQUENT_CHARACTERS[codec]
    share = sum(count for char, count in counts.items() if char in frequent) / total
    return min(share / _FREQUENT, 1.0)


def _narrow_score(sample: _Sample, codec: str) -> float:
    letters = _high_half(codec)
    return max(_likeness(sample, letters, alphabet) for alphabet in _ALPHABETS[codec])


@functools.cache
def _high_half(codec: str) -> str:
    return "".join(bytes((byte,)).decode(codec, "replace") for byte in range(0x80, 0x100))


def _likeness(sample: _Sample, letters: str, alphabet: Alphabet) -> float:
    """Return how similar the bytes, decoded to these letters, are to text in a language."""
    total = quotes = beside = alone = 0
    value = 0.0
    for byte, count in sample.high.items():
        char = letters[byte - 0x80]
        if char in _QUOTES_AND_DASHES:
            quotes += count
            continue
        worth = _worth(char, alphabet)
        # A symbol that stands alone may mean anything. One inside a word is a wrongly decoded letter.
        weight = count - sample.alone.get(byte, 0) if worth == _SYMBOL else count
        total += weight
        value += worth * weight
        beside += sample.beside.get(byte, 0)
        alone += sample.alone.get(byte, 0)
    if alphabet.latin and value > 0:
        # Latin letters stand among ASCII letters. Those of other scripts never do.
        value = max(value - alone, 0.0) * (beside + 1) / (total + 1)
    elif not alphabet.latin:
        value -= beside + _ALONE_COST * alone
    return (value + _QUOTE * quotes) / max(total + quotes, 1)


def _worth(char: str, alphabet: Alphabet) -> float:
    known = alphabet.worth.get(char)
    if known is not None:
        return known
    if char == "\ufffd" or char < "\xa0":
        return _UNREADABLE
    return _OTHER_LETTER if char.isalpha() else _SYMBOL
