// Words of consent banners in the languages of Europe and the large ones of Asia. Labels are compared in lower case.
// Without the flag `u`, the first search of a page takes 16 to 21 ms instead of 57 to 95.
const LETTERS = {'\\p{L}': '[a-zà-ɏͰ-ӿ]', '\\p{Script=Latin}': '[a-zà-ɏ]'};
const words = (...parts) => new RegExp(parts.join('|').replace(/\\p\{[^}]+\}/g, (name) => LETTERS[name]), 'i');

// What a banner is about. These words are enough if the box asks for an answer.
const TOPIC = words('cookie', '(?<!\\p{L})kakor', 'vafrakök', 'informasjonskaps', 'küpsis', 'eväste', 'куки', 'クッキー', '쿠키', 'çerez',
  '(?<!\\p{L})süti', 'kolačić', 'piškot', 'бисквитк', 'slapuk', 'sīkdat', 'sīkfail', 'ciastecz', 'ملفات تعريف', 'كوكيز', 'עוגיות', 'คุกกี้',
  'gdpr', 'rgpd', 'dsgvo', 'ccpa', 'consent', 'einwillig', 'zustimm', 'toestemming', 'samtyck', 'samtykk', 'souhlas', 'súhlas', 'consenso',
  'tracking', 'trackers', 'traceurs', 'rastreador', 'tracciator', 'unique identifiers', 'personal (?:data|information)', 'personenbezogen',
  'données (?:personnelles|à caractère)', 'datos personales', 'dati personali', 'dados pessoais', 'persoonsgegevens', 'dan(?:e|ych) osobow',
  'osobní(?:ch)? údaj', 'персональн', '個人(?:データ|情報)', '个人信息', '個人資料', '개인정보');
// These words are in other boxes too.
const PRIVACY = words('privacy', 'privacidad', 'privacidade', 'confidential', 'datenschutz', '隐私', '隱私', 'プライバシー', 'prywatno', 'soukrom',
  'súkrom', 'privatliv', 'personvern', 'yksityisyy', 'integritet', 'privatnost', 'zasebnost', 'поверител', 'απόρρητ', 'ιδιωτικ',
  'конфиденц', 'приватн', 'gizlilik', 'privaatsus', 'privatum', 'privātum', '프라이버시', 'خصوصي', 'פרטיות', 'riêng tư', 'privasi',
  'ความเป็นส่วนตัว', 'adatvéd');

// In labels. What a site needs to work is no consent.
const NEEDED = '(?:necessary|essential|required|functional|notwendig|essen[tz]iell|erforderlich|technisch|funktional|nécessaire|'
  + 'necesari|esencial|imprescindible|técnica|necessari|essenziali|tecnici|noodzakelijk|functione|necessári|essenciais|'
  + 'niezbędn|konieczn|nödvändig|nødvendig|välttämättöm|nezbytn|nutn|nevyhnutn|szükséges|necesare|esențiale|neophodn|'
  + 'nužn|obavezn|nujn|необходим|απαραίτητ|απολύτως|обязательн|необхідн|gerekli|zorunlu|vajalik|būtin|obligāt|nepieciešam|'
  + '必要|必須|必需|필수|الضرورية|الأساسية|הכרחי|חיוני|cần thiết|thiết yếu|perlu|penting|จำเป็น)';
const ONLY = '(?:only|just|nur|seulement|uniquement|solo|sólo|únicamente|solamente|soltanto|alleen|enkel|apenas|só|somente|tylko|endast|bara|kun|bare|'
  + 'vain|pouze|jen|iba|len|csak|doar|numai|samo|само|μόνο|только|лишь|лише|тільки|yalnızca|sadece|ainult|tik|tikai|のみ|だけ|仅|僅|只|만|فقط|בלבד|chỉ|hanya|เฉพาะ)';
const NEEDED_ONLY = words(`(?<!\\p{L})${ONLY}(?!\\p{Script=Latin}).{0,30}${NEEDED}`, `${NEEDED}.{0,30}(?<!\\p{Script=Latin})${ONLY}(?!\\p{Script=Latin})`);
// Without such a word, a button may also open the details of these cookies.
const NEEDED_COOKIES = words(`^(?:i )?(?:use|accept|allow|continue with|keep|load) .{0,20}${NEEDED}`, `^(?:cookies? )?${NEEDED}\\p{L}*(?: cookies?| akzeptieren| annehmen)?$`, '^wymagane$');
const REFUSE = words(
  '^(?:i )?(?:reject|decline|deny|refuse|disagree|object|opt.?out|no,? thank)', '(?<!\\p{L})(?:do not|don.?t|not) (?:accept|consent|allow|agree|track)',
  '(?:reject|decline|refuse|deny|disable|block) (?:all|non|optional|additional|cookies)', 'without (?:accepting|consent|agreeing)', '^disagree', 'opt me out',
  'ablehn', 'verweiger', 'nicht (?:zustimm|einverstand|akzept|erlaub|zulass|annehm)', 'ohne (?:zustimm|einwillig|akzept|einverst)', '^nein(?!\\p{L})',
  'refus', 'rejet', 'sans accepter', '(?:n.|ne pas )accept', 'interdire', 'tout bloquer', 'm.oppose', 's.opposer', '^non,? merci',
  'rechaz', 'deneg', 'no acept', 'sin aceptar', 'no,? gracias', 'rebutj', 'rifiut', 'respingi', '^nega(?!\\p{L})', 'non accett', 'senza (?:accett|consenso)',
  'no,? grazie', 'weiger', 'afwijz', 'niet (?:akkoord|accept|toestaan)', 'zonder (?:akkoord|accept)', 'nee,? (?:bedankt|dank)',
  'rejeit', 'recus', 'não aceit', 'sem aceitar', 'não,? obrig', 'odrzu', 'odmaw', 'odmów', 'nie (?:zgadzam|akcept|wyrażam)', 'bez (?:akcept|zgody)',
  'avvis(?:a|e|er)?(?!\\p{L})', '(?<!\\p{L})neka(?!\\p{L})', 'avböj', 'inte (?:godkänn|accept)', 'nej,? tak', 'afvis', 'afslå', 'avslå', 'nei,? takk',
  'hylkää', 'hylätä', 'kiellä', 'en hyväksy', 'ei kiitos', 'odmít', 'zamít', 'nesouhlas', 'nepřij', 'odmiet', 'zamiet', 'nesúhlas', 'neprij',
  'elutas', 'visszautas', 'nem (?:fogad|járul|értek)', 'refuz', 'resping', 'nu (?:accept|sunt)', 'odbij', 'odbac', 'ne prihva', 'одбиј', 'zavrn', 'zavrač', 'ne (?:sprejm|strinja)',
  'отхвърл', 'отказ', 'не (?:приемам|съм съг)', 'απόρριψ', 'απορρίπτ', 'άρνησ', 'δεν (?:αποδέχ|συμφων)', 'отклон', 'не (?:соглас|прин|разреш)', 'запрет',
  'відхил', 'відмов', 'не (?:погодж|прийм|дозвол)', 'redded|reddet|^red$', 'kabul etm', 'keeldu', 'lükka', 'ei nõustu', 'atmest', 'atsisak', 'nesutink',
  'noraid', 'nepiekr', 'atteikt', 'hafna', '拒否', '(?:同意|許可|承諾|受け入れ)(?:しない|ない)', 'オプトアウト', '拒绝', '拒絕', '不同意', '不接受', '不允',
  '거부', '거절', '동의하지', '동의 안', '허용 안', '허용하지', 'رفض', 'لا (?:أوافق|أقبل)', '(?<!\\p{L})דח', 'סירוב', 'לסרב', 'לא (?:מסכים|מאשר)', 'từ chối', 'không (?:đồng ý|chấp nhận)',
  'tolak', 'tidak setuju', 'ปฏิเสธ', 'ไม่(?:ยอมรับ|ยินยอม)', 'अस्वीकार');
// A plain "no" is a refusal only in boxes about cookies.
const NO = /^(?:no|nein|non|nee|nej|nei|não|nie|ne|нет|ні|hayır|いいえ|否|아니(?:요|오))(?!\p{L})/iu;
// Labels with words of a refusal that do something else: they buy, leave the site, explain.
const NO_REFUSAL = words('subscri', 'abonn', 'abonne', 'suscri', 'abbona', 'iscriv', '(?<!\\p{L})(?:pay|buy|purchase|leave|exit)(?!\\p{L})', 'verlassen', 'quitter', 'salir',
  '\\b(?:log|sign).?in\\b', '^(?:how|learn|why|read|more|see|view|about|comment|en savoir|cómo|come|hoe|wie|mehr|more)(?!\\p{L})', 'the age');
const SETTINGS = words('settings', 'preferences', 'manage', 'options', 'customi[sz]e', 'choices', 'einstellung', 'anpassen', 'individuell', 'konfigur', 'verwalten',
  'paramétr', 'paramètr', 'personnaliser', 'gérer', 'choisi', 'configur', 'ajustes', 'personaliz', 'gestion', 'opciones', 'gestisci', 'preferen[zc]', 'impostazioni',
  'opzioni', 'instellingen', 'voorkeuren', 'beheer', 'aanpassen', 'definições', 'gerir', 'gerenciar', 'ustawie', 'zarządzaj', 'dostosuj', 'inställning', 'hantera',
  'indstilling', 'tilpas', 'innstilling', 'administrer', 'asetu', 'muokkaa', 'nastaven', 'nastavi', 'spravov', 'upravi', 'beállít', 'testresz', 'setări', 'gestion',
  'postavk', 'prilagod', 'настр', 'ρυθμίσε', 'προτιμήσε', 'προσαρμογ', 'налашт', 'ayarlar', 'tercih', 'yönet', 'seaded', 'halda', 'nustatym', 'tvarkyt', 'iestatīj',
  'pārvald', '設定', '設置', '设置', '管理', '偏好', '설정', '관리', 'إعدادات', 'تخصيص', 'הגדרות', 'העדפות', 'cài đặt', 'tùy chỉnh', 'pengaturan', 'kelola', 'ตั้งค่า', 'จัดการ');
const MORE = words('^(?:learn |show |find out )?more', 'details?$', '^mehr', '^en savoir', '^plus d', '^más', '^maggiori', '^scopri', '^meer', '^więcej', '^läs mer', '^les mer',
  '^læs mere', '^lue lis', '^více', '^viac', '^подробн', '^докладн', '^περισσ', '^daha fazla', '^詳細', '^詳しく', '^了解更多', '^자세히');
const SAVE = words('\\b(?:save|confirm|submit|apply)\\b', '(?:accept|allow|keep|use|confirm) (?:my |current |the )?(?:selected|selection|choices?)', 'speicher', 'bestätigen',
  'auswahl (?:erlauben|akzept|zulass|übern|bestät)', 'ausgewählte', 'enregistrer', 'valider', 'confirmer', 'guardar', 'confirmar', 'selecci(?:ón|onad)', 'salva',
  'conferma', 'selezion', 'opslaan', 'bevestig', 'selectie', 'zapisz', 'potwierdź', 'wybran', 'spara', '^gem(?!\\p{L})', 'lagre', 'valgte', 'tallenna', 'valitut',
  'uložit', 'uložiť', 'potvrdi', 'mentés', 'salvea', 'spremi', 'shrani', 'запази', 'αποθήκευσ', 'сохранить', 'зберегти', 'kaydet', 'salvesta', 'išsaugot', 'saglab',
  '保存', '儲存', '저장', 'حفظ', 'שמור', 'lưu', 'simpan', 'บันทึก');
const ACCEPT = words('accept', 'agree', 'allow', '^(?:yes,? )?(?:i |give |do )*consent(?! (?:pref|sett|manag|choic|opt))', 'got it', 'sounds good', '^ok(?:ay)?(?!\\p{L})', 'understand', '^yes', '^that.s (?:fine|ok)', 'enable all', 'akzept',
  'zustimmen', '(?<!\\p{L})stimme', 'einverstanden', 'zulassen', 'erlauben', 'einwilligen', 'willige', 'annehmen', 'alles klar', 'verstanden', '^ja(?!\\p{L})', 'accord', 'autoris', 'compris', 'acept', 'permitir',
  'entendido', 'accett', 'acconsent', 'ho capito', 'aceit', 'concord', 'entendi', 'akkoord', 'toestaan', 'begrepen', 'akcept', 'zgadzam', 'zgoda', 'zezwól', 'rozumiem',
  'godkänn', 'tillåt', 'förstår', 'tillad', 'forstå', 'godta', 'godkend', 'aksepter', 'tillat', 'hyväks', 'salli', 'přij', 'souhlasím', 'povol', 'rozum', 'prij',
  'súhlasím', 'elfogad', 'engedély', 'hozzájár', 'rendben', 'értem', 'permit', 'de acord', 'prihva', 'slažem', 'dopusti', 'sprejm', 'strinja', 'dovoli', 'приема', 'приеми',
  'съглас', 'разреш', 'αποδοχ', 'αποδέχ', 'συμφων', 'приня', 'принима', 'соглас', 'понятно', 'прийня', 'прийма', 'погодж', 'дозвол', 'kabul', 'izin ver', 'onayl', 'anladım',
  'nõustu', 'luban', 'sutink', 'priim', 'leisti', 'piekr', 'pieņem', 'atļaut', 'samþykk', '許可', '同意', '承諾', '受け入れ', '了解', '接受', '允许', '允許', '知道了', '동의', '수락', '허용',
  '확인', 'قبول', 'أوافق', 'موافق', 'اسمح', 'אשר', 'אישור', 'מסכים', 'קבל', 'הבנתי', 'chấp nhận', 'đồng ý', 'cho phép', 'terima', 'setuju', 'izinkan', 'ยอมรับ', 'ยินยอม', 'ตกลง',
  'स्वीकार', 'dismiss', '^continue(?: to.*| anyway| with.*)?$');
const CLOSE = /^(?:[×✕✖✗x]|close|hide|schließen|fermer|cerrar|chiudi|sluiten|venster sluiten|zavřít|zatvoriť|zamknij|stäng|luk|lukk|sulje|fechar|bezár|închide|kapat|zatvori|zapri|закрыть|закрити|затвори|κλείσιμο|sulge|uždaryti|aizvērt|閉じる|关闭|關閉|닫기|إغلاق|סגור|đóng|tutup|ปิด)(?: .{0,20})?$/iu;
const EVERYTHING = words('(?<!\\p{L})(?:all|alle|alles|tout|toutes?|tous|todo|todas?|todos|tudo|tutti|tutto|vše|všetk\\p{L}*|wszystk\\p{L}*|alla|allt|kaikki|összes|mindent?|toate|sve|vse|všetko|kõik\\p{L}*|visus|visas|tümü\\p{L}*|semua)(?!\\p{L})',
  'すべて', '全て', '全部', '모두', '전체', 'всё', 'все', 'всички', 'όλ', 'الكل', 'הכל', 'tất cả', 'ทั้งหมด');
// Labels that accept more than a site needs, although they name what it needs.
const AND_MORE = words('(?<!\\p{L})(?:and|und|et|og|och) ', '&', 'optional', 'recommended', 'analyt', 'market', 'statist');
const ALL_OF = /(?<!\p{L})all(?:e|es)? (?!not|non)/iu;
// Text of a banner that takes closing it or going on for an answer.
const IMPLIED = words('(?:clos|dismiss|continu|brows|scroll|us)ing .{0,80}(?:accept|agree|consent)', 'continue .{0,40}(?:accept|agree|consent)', '(?:fermant|poursui|continuant).{0,80}accept',
  '(?:schließen|weiter|nutzung).{0,80}(?:zustimm|einverst|akzept)', '(?:chiud|prosegu|continu).{0,80}(?:accett|accon)', '(?:cerr|contin|naveg).{0,80}acept', 'door .{0,60}akkoord');

// Questions of boxes that stay.
const AGE = words('are you (?:over )?\\d\\d', '(?:over|least|under the age of) (?:1[689]|2[01])(?!\\d)', '(?:1[689]|2[01]) (?:years|or older|and over|or over|\\+)', '(?<!\\d)1[68]\\+',
  'legal (?:drinking )?age', 'age (?:check|verif|gate|restrict)', 'your age', '(?<!(?:unter|younger than|moins de|menos de|meno di|onder|under|poniżej) )(?:1[68]|2[01])(?:\\.| )(?:jahre|ans|años|anni|jaar|lat|anos|år|let|rokov|éves|ani|yaş|лет|років|години)',
  '(?:1[689]|20) ?(?:歳|岁|歲|세)', '年齢確認', 'volljährig', 'alters(?:prüf|kontr|verif|abfr|nachw)', 'âge légal', '(?:êtes|être) majeur', 'mayor de edad', 'maggiorenn', 'maior de idade',
  'meerderjarig', 'leeftijdscontr', 'pełnoletni', 'plnolet', 'myndig', 'täysi-ikä', 'совершеннолет', 'повнол', 'zletil', 'nagykor', 'majorat', 'полнолет', 'punoljet');
const SIGN_IN = words('\\bsign[ -]?(?:in|up)\\b', '\\blog[ -]?in\\b', 'password', 'passwort', 'mot de passe', 'contraseña', 'wachtwoord', '(?<!\\p{L})anmeld', 'einlogg', 'connecter', 'connexion', 'identifiez',
  'inici(?:a|ar) sesión', '(?<!\\p{L})accedi', 'inlogg', 'aanmeld', 'zaloguj', 'logga in', 'log ind', 'logg inn', 'kirjaudu', 'přihl[aá]', 'prihlás', 'bejelentkez', 'autentific', 'prijav', 'войти',
  'увійти', 'giriş yap', 'ログイン', '登录', '登入', '로그인', 'تسجيل الدخول', 'התחבר', 'đăng nhập', 'newsletter', 'subscribe to');
const BASKET = words('basket', '(?<!\\p{L})cart(?!\\p{L})', 'warenkorb', 'panier', 'carrito', '(?<!\\p{L})cesta', 'carrello', 'winkel(?:wagen|mand)', 'koszyk', 'varukorg', 'kundvagn', 'indkøbskurv', 'handlekurv',
  'ostoskori', 'košík', 'kosár', 'coșul', 'košaric', 'корзин', 'кошик', 'количк', 'καλάθι', 'sepet', 'カート', '购物车', '購物車', '장바구니', 'checkout', 'check out(?! (?:our|the))', 'zur kasse', 'afrekenen');
const SEARCH = /(?<!\p{L})search(?!\p{L})/iu;

const NAME = words('cookie', 'consent', 'gdpr', 'rgpd', 'dsgvo', 'onetrust', 'cybot', 'didomi', 'usercentrics', 'truste', 'sp_message', 'qc-cmp', 'osano', 'cc-window', 'cc-banner', '\\bcky',
  'cmplz', 'iubenda', 'borlabs', '\\bcmp\\b', 'cmpbox', 'cmpwrapper', 'klaro', 'orejime', 'tarteaucitron', 'axeptio', 'fc-dialog', 'privacy-(?:banner|notice|prompt|wall|modal)', 'evidon', 'termly', 'ketch');
