"""Meaning of LaTeX commands and environments."""

from __future__ import annotations

from collections.abc import Mapping

from scraper.extract.math.symbols import SYMBOLS


def _pairs(table: str) -> dict[str, int]:
    return {name: int(count) for count, *names in map(str.split, table.strip().splitlines()) for name in names}


HEADINGS: Mapping[str, int] = {
    "part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5, "subparagraph": 6,
    "frametitle": 3, "framesubtitle": 4, "addchap": 1, "addsec": 2,
}  # fmt: skip
"""Level of a heading."""

MARKS: Mapping[str, str] = {
    "textbf": "**", "bm": "**", "textit": "*", "emph": "*", "textsl": "*", "strong": "**", "alert": "**",
    "sout": "~~", "st": "~~",
}  # fmt: skip
"""Markdown around the argument of a command."""
SWITCHES: Mapping[str, str] = {
    "bf": "**", "bfseries": "**", "it": "*", "itshape": "*", "em": "*", "sl": "*", "slshape": "*",
}  # fmt: skip
"""Markdown around the rest of a group."""

DROPPED = _pairs(
    """
    0 centering raggedright raggedleft noindent indent newpage clearpage cleardoublepage pagebreak nopagebreak hfill
    0 vfill hrule vrule tableofcontents listoffigures listoftables printindex appendix bigskip medskip smallskip
    0 maketitle protect relax makeatletter makeatother today frontmatter mainmatter backmatter unskip ignorespaces
    0 hline toprule midrule bottomrule endhead endfirsthead endfoot endlastfoot printbibliography onecolumn sloppy
    0 strut phantomsection allowdisplaybreaks flushbottom raggedbottom doublespacing singlespacing footnotemark
    1 vspace hspace pagestyle thispagestyle bibliographystyle documentclass documentstyle usepackage RequirePackage
    1 hypersetup graphicspath newcounter color pagecolor pagenumbering phantom hphantom vphantom markright index
    1 captionsetup geometry usetikzlibrary nocite enlargethispage stepcounter refstepcounter selectlanguage sisetup
    1 cline addlinespace rowcolor arrayrulecolor noalign hhline cmidrule newlength newsavebox usetheme usecolortheme
    1 tikzset pgfplotsset lstset glsaddall linespread hyphenation includeonly balance vskip hskip kern usefont
    1 columncolor cellcolor theoremstyle DeclareGraphicsExtensions rotatebox textcolor
    1 colorbox scalebox raisebox
    1 parbox foreignlanguage hyperlink hypertarget highlight onslide
    2 setlength addtolength setcounter addtocounter markboth rule fontsize DeclareMathAlphabet settowidth
    2 setbeamertemplate setbeamercolor setbeamerfont PassOptionsToPackage
    2 newfloat setbeameroption resizebox fcolorbox numberwithin
    3 addcontentsline definecolor specialrule providecolor
    """
)
"""Number of arguments that are left out with a command; the next argument is text."""
FILES = frozenset("input include subfile import subimport lstinputlisting verbatiminput inputminted includepdf".split())
"""Commands that stand for the text of other files."""
BIBLIOGRAPHIES = frozenset({"bibliography", "addbibresource"})
REFERENCES = frozenset("ref eqref autoref cref Cref pageref nameref vref subref fref sref prettyref hyperref".split())
DEFINITIONS = frozenset(
    "newcommand renewcommand providecommand DeclareRobustCommand def gdef edef xdef let DeclareMathOperator "
    "newenvironment renewenvironment".split()
)
FRONT = frozenset(
    "title subtitle author date institute affiliation affil address email keywords institution orcid city country "
    "abstract subject dedicatory".split()
)
"""Commands of the title page, which may stand in front of the text."""

SYMBOL_TEXTS: Mapping[str, str] = {
    **{command[1:]: character for character, command in SYMBOLS.items() if command[1:].isalpha()},
    "LaTeX": "LaTeX", "TeX": "TeX", "LaTeXe": "LaTeX2e", "BibTeX": "BibTeX", "ldots": "\u2026", "dots": "\u2026",
    "textellipsis": "\u2026", "textemdash": "\u2014", "textendash": "\u2013", "S": "\u00a7", "P": "\u00b6",
    "copyright": "\u00a9", "textcopyright": "\u00a9", "textregistered": "\u00ae", "texttrademark": "\u2122",
    "pounds": "\u00a3", "textsterling": "\u00a3", "euro": "\u20ac", "texteuro": "\u20ac", "textdegree": "\u00b0",
    "degree": "\u00b0", "ss": "\u00df", "ae": "\u00e6", "AE": "\u00c6", "oe": "\u0153", "OE": "\u0152",
    "o": "\u00f8", "O": "\u00d8", "aa": "\u00e5", "AA": "\u00c5", "l": "\u0142", "L": "\u0141", "i": "\u0131",
    "j": "\u0237", "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textbar": "|",
    "textless": "<", "textgreater": ">", "textquotedblleft": "\u201c", "textquotedblright": "\u201d",
    "textquoteleft": "\u2018", "textquoteright": "\u2019", "textquotesingle": "'", "lq": "\u2018", "rq": "\u2019",
    "textbullet": "\u2022", "textperiodcentered": "\u00b7", "textmu": "\u00b5", "textunderscore": "_",
    "lbrack": "[", "rbrack": "]", "slash": "/", "guillemotleft": "\u00ab", "guillemotright": "\u00bb", "og": "\u00ab ",
    "fg": " \u00bb", "dag": "\u2020", "ddag": "\u2021", "textdollar": "$", "textpercent": "%", "quad": " ",
    "qquad": " ", "enspace": " ", "enskip": " ", "thinspace": " ", "space": " ", "nobreakspace": " ", "xspace": " ",
}  # fmt: skip
CHARACTERS: Mapping[str, str] = {
    **{character: character for character in "&%$#_{}"}, " ": " ", "\n": " ", "\t": " ", ",": " ", ";": " ", ":": " ",
    "!": "", "/": "", "@": "", "-": "", ">": "", "<": "",
}  # fmt: skip
"""Text of commands that are one special character."""
ACCENTS: Mapping[str, str] = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306", ".": "\u0307",
    '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "d": "\u0323", "c": "\u0327", "k": "\u0328",
    "b": "\u0331", "t": "\u0361",
}  # fmt: skip
"""Combining character of an accent."""
UNITS: Mapping[str, str] = {
    "meter": "m", "metre": "m", "gram": "g", "second": "s", "ampere": "A", "kelvin": "K", "mole": "mol", "hertz": "Hz",
    "newton": "N", "pascal": "Pa", "joule": "J", "watt": "W", "volt": "V", "ohm": "\u03a9", "celsius": "\u00b0C",
    "degreeCelsius": "\u00b0C", "liter": "L", "litre": "L", "minute": "min", "hour": "h", "day": "d", "tesla": "T",
    "percent": "%", "electronvolt": "eV", "byte": "B", "bit": "bit", "radian": "rad", "angstrom": "\u00c5", "per": "/",
    "kilo": "k", "mega": "M", "giga": "G", "tera": "T", "centi": "c", "milli": "m", "micro": "\u00b5", "nano": "n",
    "pico": "p", "deci": "d", "hecto": "h", "squared": "\u00b2", "cubed": "\u00b3", "square": "", "degree": "\u00b0",
}  # fmt: skip
"""Units of the package siunitx."""

SINGLE_FORMULAS = frozenset("equation displaymath math multline gather dmath".split())
ALIGNED_FORMULAS: Mapping[str, str] = {
    "align": "aligned", "alignat": "aligned", "flalign": "aligned", "eqnarray": "aligned", "IEEEeqnarray": "aligned",
    "subequations": "", "xalignat": "aligned",
}  # fmt: skip
"""Environment of the formula inside of `$$`."""
LISTS: Mapping[str, str] = {
    "itemize": "-", "enumerate": "1", "description": "", "compactitem": "-", "compactenum": "1", "inparaenum": "1",
    "list": "-", "trivlist": "-", "tasks": "1", "questions": "1", "parts": "1", "labeling": "",
}  # fmt: skip
TABLES: Mapping[str, int] = {
    "tabular": 1, "tabular*": 2, "tabularx": 2, "tabulary": 2, "longtable": 1, "longtabu": 1, "tabu": 1, "tblr": 1,
    "longtblr": 1, "NiceTabular": 1, "supertabular": 1, "xltabular": 2, "deluxetable": 1, "array": 1,
}  # fmt: skip
"""Number of arguments of an environment of tables."""
FLOATS: Mapping[str, str] = {
    "figure": "Figure", "wrapfigure": "Figure", "sidewaysfigure": "Figure", "SCfigure": "Figure", "table": "Table",
    "wraptable": "Table", "sidewaystable": "Table", "longtable": "Table", "deluxetable": "Table",
    "algorithm": "Algorithm", "algorithm2e": "Algorithm", "listing": "Listing", "scheme": "Scheme",
}  # fmt: skip
"""Word in front of the number of a caption."""
THEOREMS: Mapping[str, str] = {
    "theorem": "Theorem", "lemma": "Lemma", "proposition": "Proposition", "corollary": "Corollary",
    "definition": "Definition", "remark": "Remark", "example": "Example", "conjecture": "Conjecture",
    "claim": "Claim", "exercise": "Exercise", "proof": "Proof",
}  # fmt: skip
QUOTES = frozenset("quote quotation verse displayquote".split())
CODE = frozenset("verbatim Verbatim lstlisting minted alltt BVerbatim LVerbatim".split())
CONDITIONALS = frozenset(
    "if ifx ifcat ifnum ifdim ifodd ifvmode ifhmode ifmmode ifinner ifvoid ifhbox ifvbox ifeof iftrue iffalse ifcase "
    "ifdefined ifcsname".split()
)
"""Commands of TeX, each of which ends at `fi`."""
DRAWINGS = frozenset("tikzpicture pgfpicture picture tikzcd pspicture circuitikz forest axis".split())
ENVIRONMENT_ARGUMENTS = _pairs(
    """
    1 minipage multicols columns column subfigure subtable adjustwidth otherlanguage spacing adjustbox
    2 wrapfigure wraptable adjustwidth* CJK CJK*
    """
)
"""Number of arguments of environments that are not text."""
RULES = frozenset(
    "hline toprule midrule bottomrule cline cmidrule addlinespace specialrule noalign hhline rowcolor "
    "endhead endfirsthead endfoot endlastfoot arrayrulecolor".split()
)
ALGORITHM: Mapping[str, tuple[str, str]] = {
    "State": ("", ""), "Statex": ("", ""), "For": ("for", "do"), "ForAll": ("for all", "do"),
    "While": ("while", "do"), "If": ("if", "then"), "ElsIf": ("else if", "then"), "Repeat": ("repeat", ""),
    "Until": ("until", ""), "Function": ("function", ""), "Procedure": ("procedure", ""), "Require": ("Require:", ""),
    "Ensure": ("Ensure:", ""), "Return": ("return", ""), "Else": ("else", ""), "EndFor": ("end for", ""),
    "EndWhile": ("end while", ""), "EndIf": ("end if", ""), "EndFunction": ("end function", ""),
    "EndProcedure": ("end procedure", ""), "KwIn": ("Input:", ""), "KwOut": ("Output:", ""),
    "KwData": ("Data:", ""), "KwResult": ("Result:", ""),
}  # fmt: skip
"""Words before and after the argument of a line of an algorithm; also in capitals."""
