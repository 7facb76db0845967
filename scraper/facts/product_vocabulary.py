"""Words of shops in a dozen languages for availability, prices and labels."""

from __future__ import annotations

import re
from collections.abc import Mapping

from scraper.text.word_patterns import compile_any_of

# The patterns are for text in lower case: with `IGNORECASE`, a search takes several times as long.
BUY = compile_any_of(
    r"add to (?:my )?(?:cart|bag|basket|trolley)|add-?to-?(?:cart|bag|basket)|add2cart|buy (?:it )?now|"
    r"\bbuy[-_](?:now|btn|button)|place bid|in den (?:waren|einkaufs)korb|jetzt kaufen|"
    r"aggiungi al carrello|acquista ora|añadir (?:al|a la) (?:carrito|cesta)|agregar al carr(?:o|ito)|"
    r"comprar|ajouter au panier|do košíku|do kosz(?:yka|a)|u košaricu|v košarico|do koša|"
    r"toevoegen aan winkel|in winkelwagen|adicionar ao carrinho|lägg i|læg i kurv|legg i handlekurv|"
    r"lisää ostoskoriin|lisa ostukorvi|pirkt|ielikt grozā|į krepšelį|kosárba|adaug[aă] în co[sș]|"
    r"добави в количката|в корзину|купить|до кошика|sepete ekle|加入購物車|加入购物车|放入購物車|立即購買|"
    r"立即购买|立即購物|カートに入れる|買い物かごに|장바구니|أضف (?:إلى|الى)|أضف للسلة|הוסף לסל|הוספה לסל|"
    r"เพิ่มลงตะกร้า|thêm vào giỏ|mua ngay|かごに(?:追加|入れる)|カゴに入れる|カートに追加|구매하기|바로 ?구매|"
    r"do košíka|kúpiť|koupit|kup teraz|zum warenkorb hinzufügen|in den einkaufswagen|jetzt bestellen|"
    r"acheter maintenant|añadir al carro|agregar a la (?:bolsa|cesta)|adicionar (?:à|a) (?:sacola|cesta)|"
    r"aggiungi alla borsa|tilføj til kurv|læg i indkøbskurv|köp nu|kjøp nå|køb nu|osta nyt|lisää koriin|"
    r"in mijn winkel(?:wagen|mand)|koop nu|у кошик|купити|στο καλάθι|"
    r"tambah ke keranjang|masukkan keranjang|keranjang(?:(?<=\+keranjang)|(?<=\+ keranjang))|beli langsung|"
    r"beli sekarang|satın al|hemen al|اشتر الآن|افزودن به سبد|pre-?order now"
)
NOT_IN_STOCK = compile_any_of(
    r"out of stock|sold[ -]?out|not (?:currently |yet |now )?in stock|nicht (?:mehr )?(?:auf lager|vorrätig)|"
    r"pas (?:en stock|disponible)|plus (?:en stock|disponible)|ikke på lager|inte i lager|ei varastossa|"
    r"currently unavailable|temporarily unavailable|no longer available|"
    r"not available|derzeit nicht (?:verfügbar|auf lager|lieferbar)|ausverkauft|"
    r"nicht (?:mehr )?verfügbar|nicht lieferbar|non disponibile|esaurito|agotado|sin stock|no disponible|"
    r"rupture de stock|indisponible|épuisé|vyprod|vypred|nedostupn|niedostępn|wyprzedan|esgotado|"
    r"indisponível|slutsåld|udsolgt|utsolgt|uitverkocht|niet op voorraad|нет в наличии|распродан|"
    r"немає в наявності|tükendi|stokta yok|stoc epuizat|elfogyott|nincs készleten|售完|缺貨|缺货|補貨中|"
    r"売り切れ|在庫切れ|품절|نفذت الكمية|אזל|אינו במלאי|לא במלאי|back in stock|notify me when|"
    r"e-?mail (?:me )?when (?:it is |it['’]s )?(?:available|in stock|back)|let me know when|sin existencias|"
    r"fora de (?:estoque|stock)|sem (?:estoque|stock)|brak w magazynie|není skladem|nie je skladom|"
    r"slut i lager|ej i lager|"
    r"slutsålt|loppu(?:nut)? varastosta|rasprodano|нет на складе|已售罄|在庫なし|完売|입고 ?대기|재고 없음|"
    r"hết hàng|stok habis|สินค้าหมด|εξαντλ|μη διαθέσιμο|avvisami quando|avise-?me quando|avísame cuando|"
    r"сообщить о поступлении"
)
IN_STOCK = compile_any_of(
    r"\bin stock\b|\bauf lager\b|\blieferbar\b|disponibilità immediata|\bdisponib(?:ile|le)\b|"
    r"\ben stock\b|\bskladem\b|op voorraad|na stanju|dostupno|na skladištu|в наличии|є в наявності|"
    r"only \d+ left|nur noch \d+|em estoque|stokta|i lager|på lager|varastossa|laos\b|raktáron|în stoc|"
    r"na stanie|na zalogi|有貨|有货|現貨|在庫あり|متوفر|במלאי|"
    r"\bem stock\b|\bvorrätig\b|\bsofort verfügbar\b|\bhay stock\b|en existencia|w magazynie|skladom\b|"
    r"còn hàng|재고 있음|διαθέσιμο"
)
PRICE_NAMES = re.compile(
    r"pri[cs]e|preis|pre[zç][zo]o?|precio|preço|prix|cena|hinta|hind|kaina|цена|amount|(?<![a-z])(?:prc|bid)(?![a-z])"
)

LABELS: Mapping[str, str] = {
    "sku": (
        r"sku|item(?: id)?|item (?:no|number|code|#)|article (?:no|number)|artikel-?(?:nr|nummer)|"
        r"art\.? ?(?:nr|no)|bestell-?(?:nr|nummer)|product (?:code|id|no|number|sku)|asin|web code|"
        r"codice(?: articolo| prodotto)?|cod(?:e|\.)?|código(?: del? produto| artículo)?|referenza|"
        r"r[eé]f(?:erence|[eé]rence|erencia|erência)?(?:\.? (?:produit|article))?|артикул|код(?: товара)?|"
        r"šifra(?: izdelka| proizvoda)?|"
        r"kód(?: produktu)?|kod(?: produktu)?|indeks|numer katalogowy|商品(?:編號|编号|コード|番号)|貨號|"
        r"货号|品番|型番|catalog (?:no|number)|style(?: (?:no|number|code|#))?|stock (?:no|number|code)|"
        r"tootekood|tuotenumero|varenummer|varenr|מק.?ט|רמز المنتج|anzeigen-?(?:nr|nummer|id)|ad id|"
        r"post id|listing id|annonce(?:nr)?|artikkelnummer|tuotekoodi|product(?:nummer|code)|produktnummer|"
        r"produktkod|kód zboží|katalogové číslo|cikkszám|cod produs|κωδικός(?: προϊόντος)?|"
        r"(?:ürün|stok) kodu|상품 ?(?:번호|코드)|mã sản phẩm|kode produk|รหัสสินค้า|"
        r"numéro d['’]article"
    ),
    "brand": (
        r"brand(?: name)?|marke|marca|marque|merk|manufacturer|hersteller|produttore|výrobce|výrobca|"
        r"značka|бренд|производитель|виробник|品牌|ブランド|メーカー|producent|producător|proizvođač|"
        r"merkki|kaubamärk|zīmols|gyártó|márka|יצרן|מותג|الماركة|make|label|marchio|marka|varumärke|"
        r"varemerke|mærke|märke|merke|fabrikant|fabricante|fabricant|tillverkare|produsent|valmistaja|tootja|"
        r"ražotājs|gamintojas|марка|μάρκα|κατασκευαστής|브랜드|제조사|thương hiệu|merek|ยี่ห้อ|brend"
    ),
    "gtin": r"ean|upc|gtin|isbn(?:-1[03])?|barcode|strichcode|ean-?code|ean-?13",
    "mpn": (
        r"mpn|(?:manufacturer |mfr\.? )?part (?:no|number|#)|model(?: no| number)?|"
        r"item model number|modellnummer|numero (?:di )?modello|herstellernummer|"
        r"hersteller-?(?:artikel)?nr"
    ),
}
