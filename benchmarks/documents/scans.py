"""Generate scanned pages with known text, and measure the character error rate of text recognition.

Each scan is a picture of 200 dpi with noise, rotated by up to one degree, as the only content of a PDF page.
"""

from __future__ import annotations

import io
import random
import textwrap
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont
from rapidfuzz.distance import Levenshtein

from benchmarks.common.command_line import Figures, print_table
from scraper.reading.documents.ocr import Tesseract

_SIZE = (1654, 2339)
"""Pixels of A4 at 200 dpi."""
_DPI = 200
_PER_LANGUAGE = 10
_SEED = 20261123
_FONTS = (
    "DejaVuSans.ttf", "DejaVuSerif.ttf", "LiberationSans-Regular.ttf", "LiberationSerif-Regular.ttf",
)  # fmt: skip
SENTENCES = {
    "eng": (
        "The ferry leaves the northern harbor at half past seven every morning.",
        "All invoices must be paid within thirty days of the date of delivery.",
        "Please return the signed form together with a copy of your passport.",
        "The temperature of the water did not change during the second test.",
        "Our committee agreed to publish the minutes of the meeting in March.",
        "Further questions should be sent to the office of the local council.",
    ),
    "deu": (
        "Die Fähre verlässt den nördlichen Hafen jeden Morgen um halb acht.",
        "Alle Rechnungen müssen innerhalb von dreißig Tagen bezahlt werden.",
        "Bitte schicken Sie das unterschriebene Formular mit einer Kopie zurück.",
        "Die Temperatur des Wassers änderte sich während des Versuchs nicht.",
        "Der Ausschuss beschloss, das Protokoll der Sitzung zu veröffentlichen.",
        "Weitere Fragen richten Sie bitte an das Büro der Gemeinde.",
    ),
    "fra": (
        "Le bateau quitte le port du nord chaque matin à sept heures et demie.",
        "Toutes les factures doivent être réglées dans un délai de trente jours.",
        "Veuillez renvoyer le formulaire signé avec une copie de votre passeport.",
        "La température de l'eau n'a pas changé pendant le deuxième essai.",
        "Le comité a décidé de publier le procès-verbal de la réunion en mars.",
        "Les autres questions doivent être adressées au bureau de la mairie.",
    ),
    "spa": (
        "El barco sale del puerto del norte cada mañana a las siete y media.",
        "Todas las facturas deben pagarse en un plazo de treinta días.",
        "Devuelva el formulario firmado junto con una copia de su pasaporte.",
        "La temperatura del agua no cambió durante la segunda prueba.",
        "El comité acordó publicar el acta de la reunión en marzo.",
        "Las demás preguntas deben enviarse a la oficina del ayuntamiento.",
    ),
    "por": (
        "O barco deixa o porto do norte todas as manhãs às sete e meia.",
        "Todas as faturas devem ser pagas no prazo de trinta dias.",
        "Devolva o formulário assinado com uma cópia do seu passaporte.",
        "A temperatura da água não mudou durante o segundo ensaio.",
        "A comissão decidiu publicar a ata da reunião no mês de março.",
        "Outras questões devem ser enviadas ao escritório da câmara municipal.",
    ),
    "rus": (
        "Паром уходит из северной гавани каждое утро в половине восьмого.",
        "Все счета должны быть оплачены в течение тридцати дней.",
        "Пожалуйста, верните подписанный бланк вместе с копией паспорта.",
        "Температура воды не изменилась во время второго испытания.",
        "Комиссия решила опубликовать протокол заседания в марте.",
        "Другие вопросы следует направлять в канцелярию городского совета.",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scan:
    """A PDF of one picture, and the text in it."""

    language: str
    pdf: bytes
    text: str


def generate_scans(seed: int) -> Iterator[Scan]:
    """Yield the scans of each language."""
    source = random.Random(seed)
    for language, sentences in SENTENCES.items():
        for _ in range(_PER_LANGUAGE):
            paragraphs = []
            for _ in range(source.randint(3, 5)):
                chosen = source.sample(sentences, source.randint(2, 5))
                paragraphs.append(" ".join((f"{source.randint(1, 99)}.", *chosen, str(source.randint(1900, 2099)))))
            yield Scan(language, _draw(paragraphs, source), "\n".join(paragraphs))


def _draw(paragraphs: list[str], source: random.Random) -> bytes:
    page = Image.new("L", _SIZE, 255)
    drawing = ImageDraw.Draw(page)
    size = source.randint(28, 36)  # 10 to 13 points
    font = ImageFont.truetype(source.choice(_FONTS), size)
    y = source.randint(160, 300)
    for paragraph in paragraphs:
        for line in textwrap.wrap(paragraph, width=int(1_300 / (size * 0.55))):
            drawing.text((170, y), line, font=font, fill=source.randint(10, 70))
            y += int(size * 1.4)
        y += size
    page = page.rotate(source.uniform(-1, 1), resample=Image.Resampling.BICUBIC, fillcolor=255)
    noise = Image.effect_noise(_SIZE, source.uniform(30, 70))
    page = Image.blend(page, noise, 0.15)
    with io.BytesIO() as file:
        page.save(file, "PDF", resolution=_DPI, quality=source.randint(50, 85))
        return file.getvalue()


async def measure_recognition(read: Callable[[bytes], Awaitable[str]], seed: int = _SEED) -> Figures:
    """Return the mean character error rate, in total and by language; nothing without the languages."""
    missing = set(SENTENCES) - set(Tesseract().languages)
    if missing:
        print(f"Text recognition is left out: tesseract or its data are missing for {', '.join(sorted(missing))}.")
        return {}
    rates: dict[str, list[float]] = {language: [] for language in SENTENCES}
    for scan in generate_scans(seed):
        rates[scan.language].append(_error_rate(scan.text, await read(scan.pdf)))
    figures: Figures = {f"ocr.cer.{language}": sum(found) / len(found) for language, found in rates.items()}
    figures["ocr.cer"] = sum(map(sum, rates.values())) / sum(map(len, rates.values()))
    print_table(f"Scanned pages: {sum(map(len, rates.values()))}", ("figure", "character error rate"), figures.items())
    return figures


def _error_rate(gold: str, text: str) -> float:
    """Return the edit distance over the number of characters; spaces count as one."""
    left, right = " ".join(gold.split()), " ".join(text.split())
    return min(1.0, Levenshtein.distance(left, right) / max(1, len(left)))
