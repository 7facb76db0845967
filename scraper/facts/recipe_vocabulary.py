"""Words of recipes in some forty languages for lists of ingredients, steps and yields."""

from __future__ import annotations

import re

from scraper.facts.label_value_pairs import LabeledValueFinder

INGREDIENT_PROPERTIES = frozenset({"ingredients", "recipeingredient", "ingredient"})
STEP_PROPERTIES = frozenset({"recipeinstructions", "instructions"})
INGREDIENT_NAMES = re.compile(
    r"ingr[ae]di|zutat|ingrédient|sk[lł]adnik|hozz[aá]val[oó]k|malzeme|suroviny|ainekset|sestavine|sastojci|"
    r"(?<![a-z])zairyou?(?![a-z])",
    re.IGNORECASE,
)
STEP_NAMES = re.compile(
    r"instruction|direction|preparation|method(?!ology)|recipe[-_]*steps?|steps?[-_]*(?:text|list|item|wrapper)|"
    r"zubereitung|preparazione|bereiding|fremgangsm|tillagning|etapes|preparacion|preparaca?o|modo[-_]?de[-_]?preparo|"
    r"elkeszites|przygotowanie|hazirlanis|yapilis|postup|procedimento|tsukurikata",
    re.IGNORECASE,
)
INGREDIENT_HEADING = re.compile(
    r"\W*(?:the |les |gli |los |las |die |list(?:a|e)? (?:of|de|des) )?"
    r"(?:ingredients?|zutaten|ingrédients?|ingredientes?|ingredienti|"
    r"ingrediënten|składniki|ingredienser|ingredienzen|ингредиенты|材料|分量|hozzávalók|malzemeler|"
    r"suroviny|ainekset|sestavine|sastojci|υλικά|재료|what you(?:.?ll)? need|you(?: will|.ll) need|"
    r"benodigdheden|"
    r"(?:dit|wat) heb je nodig|ingredience|ingrediente|інгредієнти|состав|продукти|съставки|raineed|"
    r"sastāvdaļas|ingredientai|食材|用料|原料|bahan(?:-bahan)?|nguyên liệu|ส่วนผสม|วัตถุดิบ|المكونات|المقادير|"
    r"مواد لازم|מצרכים|מרכיבים|सामग्री)(?!\w)",
    re.IGNORECASE,
)
STEP_HEADING = re.compile(
    r"\W*(?:la |le |les |el |die |das )?(?:(?:cooking |preparation |step-by-step )?"
    r"(?:instructions?|directions?|method|procedure)|preparation|zubereitung|"
    r"anleitung|so (?:geht|wird).?s|und so geht.?s|préparation|étapes|réalisation|"
    r"preparación|elaboración|elaboració|pasos|modo de (?:preparación|hacer)|"
    r"(?:cómo|como) (?:hacer|preparar|fazer)|come (?:preparare|fare)|preparazione|procedimento|"
    r"preparação|modo de fazer|bereiding(?:swijze)?|aan de slag|zo maak je|werkwijze|"
    r"przygotowanie|sposób|wykonanie|gör så här|så här gör du|tillagning|slik gjør du|sådan gør du|"
    r"framgangsmåte|fremgangsmåde|fremgangsmåte|приготовление|приготування|способ|пошаговый рецепт|"
    r"начин на (?:приготвяне|приготовление)|作り方|做法|步[驟骤]|制作(?:方法|步骤)|製作|"
    r"elkészítés|modo de preparo|"
    r"postup|příprava|príprava|priprema|priprava|postopek|mod de preparare|preparare|εκτέλεση|"
    r"만드는|조리(?:법|방법|순서)|hazırlanışı|yapılışı|how to (?:make|cook)|what to do|steps|"
    r"instruk(?:tioner|sjoner|cje)|anweisungen|instrucciones|istruzioni|instructies|instruções|preparo|"
    r"valmistus(?:ohje)?|"
    r"(?:valmistamine|pagatavošana|gaminimas)|cara (?:membuat|memasak)|langkah|cách (?:làm|nấu)|"
    r"วิธีทำ|طريقة (?:التحضير|العمل|الطبخ)|طرز تهیه|אופן ההכנה|הוראות הכנה|विधि)(?!\w)",
    re.IGNORECASE,
)
RECIPE_HEADING = re.compile(
    r"\W*(?:the |la )?(?:recipe|rezept|recette|receta|ricetta|recept|przepis|ohje)\W*$", re.IGNORECASE
)
STEP_MARK = re.compile(
    r"^(?:step|schritt|étape|paso|passo|stap|krok|шаг|trin|steg|vaihe|adım|pas)\s*\d{1,2}(?:\s*/\s*\d{1,2})?"
    r"\s*[.:)–-]?(?:\s+(?=\S)|$)",
    re.IGNORECASE,
)
"""Label before a step, or instead of one, such as "Step 1"."""
YIELD_LABELS = LabeledValueFinder(
    {
        "yields": r"serves|servings?|yields?|makes|portions?|portionen|personen|porties|porzioni|porciones|"
        r"porções|pour|personnes|portioner|porsjoner|porcje|porcí|adag|порции|количество порций|kişilik|"
        r"人数|人分"
    }
)
