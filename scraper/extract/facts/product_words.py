"""The words by which shops of a dozen languages say what can be bought, what cannot, and what a value is."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["BUY", "IN_STOCK", "LABELS", "NOT_IN_STOCK", "PRICE_NAMES"]

BUY = re.compile(
    r"add to (?:my )?(?:cart|bag|basket|trolley)|add-?to-?(?:cart|bag|basket)|add2cart|buy (?:it )?now|"
    r"\bbuy[-_](?:now|btn|button)|place bid|in den (?:waren|einkaufs)korb|jetzt kaufen|"
    r"aggiungi al carrello|acquista ora|añadir (?:al|a la) (?:carrito|cesta)|agregar al carr(?:o|ito)|"
    r"comprar|ajouter au panier|do košíku|do kosz(?:yka|a)|u košaricu|v košarico|do koša|"
    r"toevoegen aan winkel|in winkelwagen|adicionar ao carrinho|lägg i|læg i kurv|legg i handlekurv|"
    r"lisää ostoskoriin|lisa ostukorvi|pirkt|ielikt grozā|į krepšelį|kosárba|adaug[aă] în co[sș]|"
    r"добави в количката|в корзину|купить|до кошика|sepete ekle|加入購物車|加入购物车|放入購物車|立即購買|"
    r"立即购买|立即購物|カートに入れる|買い物かごに|장바구니|أضف (?:إلى|الى)|أضف للسلة|הוסף לסל|הוספה לסל|"
    r"เพิ่มลงตะกร้า|thêm vào giỏ",
    re.IGNORECASE,
)
NOT_IN_STOCK = re.compile(
    r"out of stock|sold[ -]?out|not (?:currently |yet |now )?in stock|nicht (?:mehr )?(?:auf lager|vorrätig)|"
    r"(?:pas|plus) (?:en stock|disponible)|ikke på lager|inte i lager|ei varastossa|"
    r"currently unavailable|temporarily unavailable|no longer available|"
    r"(?:is )?not available|derzeit nicht (?:verfügbar|auf lager|lieferbar)|ausverkauft|"
    r"nicht (?:mehr )?verfügbar|nicht lieferbar|non disponibile|esaurito|agotado|sin stock|no disponible|"
    r"rupture de stock|indisponible|épuisé|vyprod|vypred|nedostupn|niedostępn|wyprzedan|esgotado|"
    r"indisponível|slutsåld|udsolgt|utsolgt|uitverkocht|niet op voorraad|нет в наличии|распродан|"
    r"немає в наявності|tükendi|stokta yok|stoc epuizat|elfogyott|nincs készleten|售完|缺貨|缺货|補貨中|"
    r"売り切れ|在庫切れ|품절|نفذت الكمية|אזל|אינו במלאי|לא במלאי|back in stock|notify me when",
    re.IGNORECASE,
)
IN_STOCK = re.compile(
    r"\bin stock\b|\bauf lager\b|\blieferbar\b|disponibilità immediata|\bdisponib(?:ile|le)\b|"
    r"\ben stock\b|\bskladem\b|op voorraad|na stanju|dostupno|na skladištu|в наличии|є в наявності|"
    r"only \d+ left|nur noch \d+|em estoque|stokta|i lager|på lager|varastossa|laos\b|raktáron|în stoc|"
    r"na stanie|na zalogi|有貨|有货|現貨|在庫あり|متوفر|במלאי",
    re.IGNORECASE,
)
PRICE_NAMES = re.compile(
    r"pri[cs]e|preis|pre[zç][zo]o?|precio|preço|prix|cena|hinta|hind|kaina|цена|amount", re.IGNORECASE
)

LABELS: Mapping[str, str] = {
    "sku": (
        r"sku|item(?: id)?|item (?:no|number|code|#)|article (?:no|number)|artikel-?(?:nr|nummer)|"
        r"art\.? ?(?:nr|no)|bestell-?(?:nr|nummer)|product (?:code|id|no|number|sku)|asin|web code|"
        r"codice(?: articolo| prodotto)?|cod(?:e|\.)?|código(?: del? produto| artículo)?|referenza|"
        r"ref(?:erence|érence|erencia|erência)?|артикул|код(?: товара)?|šifra(?: izdelka| proizvoda)?|"
        r"kód(?: produktu)?|kod(?: produktu)?|indeks|numer katalogowy|商品(?:編號|编号|コード|番号)|貨號|"
        r"货号|品番|型番|catalog (?:no|number)|style(?: (?:no|number|code|#))?|stock (?:no|number|code)|"
        r"tootekood|tuotenumero|varenummer|varenr|מק.?ט|רמز المنتج|anzeigen-?(?:nr|nummer|id)|ad id|"
        r"post id|listing id|annonce(?:nr)?"
    ),
    "brand": (
        r"brand(?: name)?|marke|marca|marque|merk|manufacturer|hersteller|produttore|výrobce|výrobca|"
        r"značka|бренд|производитель|виробник|品牌|ブランド|メーカー|producent|producător|proizvođač|"
        r"merkki|kaubamärk|zīmols|gyártó|márka|יצרן|מותג|الماركة|make|label"
    ),
    "gtin": r"ean|upc|gtin|isbn(?:-1[03])?|barcode|strichcode|ean-?code|ean-?13",
    "mpn": (
        r"mpn|model(?: no| number)?|manufacturer part (?:no|number)|mfr\.? part (?:no|number)|"
        r"item model number|modellnummer|numero (?:di )?modello|herstellernummer|"
        r"hersteller-?(?:artikel)?nr"
    ),
}
