"""Random content of synthetic pages, from a seed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_NOUNS = (
    "garden bicycle kernel sensor kettle bridge harbor violin printer compiler forest engine router camera market "
    "village station keyboard lantern river museum window battery teacher planet recipe pattern signal library ticket"
).split()
_VERBS = "repairs measures replaces explains carries collects improves compares describes protects finds opens".split()
_ADJECTIVES = "quiet modern heavy gentle bright careful narrow useful early broken common simple distant warm".split()
_SENTENCES = {
    "en": (
        "The {adjective} {noun} {verb} the {noun2} number {number} before the winter, and that surprised the visitors.",
        "Without {number} parts of the {adjective} {noun}, every {noun2} needs more time than in the second attempt.",
        "Near the {adjective} {noun} {number} people say that it {verb} the {noun2} with a little patience.",
        "For {number} days the {adjective} {noun} {verb} the {noun2} after the latest update, which is enough.",
    ),
    "de": (
        "Der alte Bahnhof wurde nach {number} Tagen wieder geöffnet, weil die Arbeiten schnell vorankamen.",
        "Die Gemeinde zählte im Sommer {number} Besucher, und die meisten kamen mit dem Fahrrad über die Brücke.",
        "Für die Reparatur der Orgel fehlen noch {number} Euro, sagte die Leiterin des Museums am Montagabend.",
    ),
    "fr": (
        "La vieille gare a rouvert après {number} jours, parce que les travaux ont avancé plus vite que prévu.",
        "Pendant l'été, la commune a compté {number} visiteurs, et la plupart sont venus à vélo par le grand pont.",
        "Il manque encore {number} euros pour réparer l'orgue, a déclaré lundi soir la directrice du musée.",
    ),
    "es": (
        "La vieja estación volvió a abrir después de {number} días, porque las obras avanzaron muy rápido.",
        "Durante el verano el municipio contó {number} visitantes, y la mayoría llegó en bicicleta por el puente.",
        "Todavía faltan {number} euros para reparar el órgano, dijo el lunes por la noche la directora del museo.",
    ),
}
_TITLES = {
    "en": "{adjective} {noun} {verb} {noun2} {number}",
    "de": "Straße Nummer {number} bekommt eine neue Brücke",
    "fr": "La rue numéro {number} reçoit un nouveau pont",
    "es": "La calle número {number} recibe un puente nuevo",
}
_CODE = {
    "python": ("def read_{noun}(path):", "    with open(path) as {noun2}:", "        return {noun2}.read({number})"),
    "bash": ("# prepare the {noun}", "make {noun2} JOBS={number}", "./run --{noun} | sort -n"),
    "rust": ("let {noun} = open({number})?;", "if {noun}.is_ready() {{", "    {noun}.start();", "}}"),
    "json": ("{{", '  "{noun}": {number},', '  "{noun2}": true', "}}"),
    "": ("       {noun} [-a] [-n {number}] FILE", "              print the {noun2}", "              and stop"),
}
_NAMES = "Mara Oskar Ines Tobias Lena Viktor Paula Anton Greta Hugo Selma Emil Rosa Jonas Clara Felix".split()
_SURNAMES = "Bennett Kowalski Marchetti Lindgren Okafor Tanaka Fischer Novak Alvarez Dubois Hansen Petrov".split()
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class MadePost:
    """One post of a synthetic discussion."""

    author: str
    time: datetime
    paragraphs: tuple[str, ...]
    score: int
    quoted: str = ""
    """Author and text of the previous post, if this one quotes it."""


class Content:
    """Random content, determined by the seed."""

    def __init__(self, seed: str, language: str = "en") -> None:
        self.random = random.Random(seed)
        self.language = language

    def title(self) -> str:
        """Return a short title."""
        return self._filled(_TITLES[self.language]).capitalize()

    def titles(self, count: int) -> list[str]:
        """Return different titles."""
        found: dict[str, None] = {}
        while len(found) < count:
            found[self.title()] = None
        return list(found)

    def paragraph(self) -> str:
        """Return two to five sentences."""
        sentences = _SENTENCES[self.language]
        return " ".join(self._filled(self.random.choice(sentences)) for _ in range(self.random.randint(2, 5)))

    def code(self, language: str, blocks: int) -> list[str]:
        """Return lines of code."""
        return [self._filled(line) for _ in range(blocks) for line in _CODE[language]]

    def name(self) -> str:
        """Return first name and surname."""
        return f"{self.random.choice(_NAMES)} {self.random.choice(_SURNAMES)}"

    def user(self) -> str:
        """Return the name of an account."""
        return f"{self.random.choice(_NOUNS)}_{self.random.choice(_NAMES).lower()}{self.random.randint(1, 99)}"

    def time(self) -> datetime:
        """Return a time between 2021 and 2025."""
        return datetime(2021, 1, 1, tzinfo=UTC) + self.random.random() * 1500 * _DAY

    def amount(self) -> str:
        """Return an amount of money with two decimals."""
        return f"{self.random.randint(3, 900)}.{self.random.choice(('00', '49', '90', '95', '99'))}"

    def thread(self, count: int) -> list[MadePost]:
        """Return the posts of a discussion in order; some quote the post before."""
        users = [self.user() for _ in range(4)]
        time = self.time()
        posts: list[MadePost] = []
        for _ in range(count):
            time += self.random.random() * 3 * _DAY
            quotes = bool(posts) and self.random.random() < 0.3
            quoted = f"{posts[-1].author} wrote: {posts[-1].paragraphs[0]}" if quotes else ""
            paragraphs = tuple(self.paragraph() for _ in range(self.random.randint(1, 3)))
            posts.append(MadePost(self.random.choice(users), time, paragraphs, self.random.randint(-2, 60), quoted))
        return posts

    def _filled(self, pattern: str) -> str:
        pick = self.random.choice
        return pattern.format(
            noun=pick(_NOUNS),
            noun2=pick(_NOUNS),
            verb=pick(_VERBS),
            adjective=pick(_ADJECTIVES),
            number=self.random.randint(10, 999),
        )
