// Finds consent banners and the button that refuses. It never returns a button that accepts.
(() => {
  const words = (...parts) => new RegExp(parts.join('|'), 'i');
  const TOPIC = words('cookie', 'kakor', 'küpsis', 'evästei', 'куки', 'クッキー', 'gdpr', 'rgpd', 'dsgvo', 'consent',
    'einwilligung', 'datenschutz', 'privacy', 'privacidad', 'confidentialit', 'tracking', 'trackers', 'traceurs',
    '隐私', 'プライバシー', 'prywatno', 'soukromí');
  const REFUSE = words(
    '^(?:i )?(?:reject|decline|deny|refuse|disagree|object|opt.?out|no,? thanks)\\b(?! the age)',
    '\\bdo not (?:accept|consent|allow|agree)', 'reject (?:all|non|optional|additional)',
    '(?:only|just|use|accept|allow|continue with) (?:load |use |set |allow |accept )?(?:strictly )?(?:the )?(?:necessary|essential|required|functional)',
    '(?:necessary|essential|required)(?: cookies)? only', 'without (?:accepting|consent|agreeing)',
    'ablehn', 'nur (?:notwendige|essen|erforderliche|technisch)', 'verweigern', 'refuser', 'sans accepter', 'rejeter',
    'rechazar', 'denegar', 'solo (?:las |i )?necesar', 'sólo (?:las )?necesar', 'rifiuta', 'continua senza', 'solo necessari',
    'weiger', 'afwijzen', 'alleen (?:noodzakelijk|functionele)', 'odrzu', 'tylko niezb', 'avvis', 'afvis', '^neka\\b',
    'endast nödvändiga', 'kun nødvendige', 'vain välttämättöm', 'hylkää', 'rejeitar', 'recusar', 'odmítn', 'pouze nezbyt',
    'elutasít', 'csak a szükséges', 'respinge', 'απόρριψη', 'отклон', 'только необходим', 'відхилит', 'reddet',
    '拒否', '拒绝', '拒絕', '거부', '必要なもののみ');
  const SETTINGS = words('settings', 'preferences', 'manage', 'options', 'customi[sz]e', 'choices', 'einstellungen',
    'anpassen', 'auswahl', 'paramétr', 'personnaliser', 'gérer', 'configur', 'ajustes', 'personaliz', 'gestisci',
    'preferenze', 'instellingen', 'voorkeuren', 'ustawienia', 'inställningar', 'indstillinger', 'nastaven', 'настро', '設定', '设置');
  const SAVE = words('\\b(?:save|confirm|submit|apply)\\b', 'speichern', 'bestätigen', 'enregistrer', 'valider', 'confirmer',
    'guardar', 'salva', 'opslaan', 'zapisz', 'spara', '^gem\\b', 'uložit', 'сохранить', '保存');
  const ACCEPT = words('accept', 'agree', 'allow', 'got it', 'sounds good', '^ok(?:ay)?$', 'understand', 'akzept', 'zustimm', 'einverstanden',
    'accord', 'autoriser', 'acept', 'accett', 'aceit', 'akkoord', 'toestaan', 'akceptuj', 'godkänn', 'přijmout', 'souhlas', 'принять',
    '許可', '同意', '수락', 'dismiss', 'continue', 'verstanden');
  const CLOSE = /^(?:[×✕✖x]|close|dismiss|schließen|fermer|cerrar|chiudi|sluiten|zavřít|zamknij|stäng|luk|lukk|sulje|fechar|bezár|închide|kapat|закрыть|закрити|閉じる|关闭|닫기)(?: .{0,20})?$/i;
  const EVERYTHING = words('\\b(?:all|selected|alle|alles|tout|todo|todas|tutti|vše)\\b', 'すべて', 'всё', 'все');
  const NAME = words('cookie', 'consent', 'gdpr', 'onetrust', 'cybot', 'didomi', 'usercentrics', 'truste', 'sp_message', 'qc-cmp',
    'osano', 'cc-window', '\\bcky', 'cmplz', 'iubenda', 'borlabs', '\\bcmp\\b', 'klaro', 'orejime', 'tarteaucitron');
  // Boxes that ask something else: they stay.
  const OTHER = words('password', 'passwort', '\\bsign in\\b', '\\blog ?in\\b', 'are you (?:over )?\\d\\d', 'over 18', 'basket', '\\bcheckout\\b', '\\bsearch\\b');
  const [MIN_CHARS, MAX_CHARS, MAX_BUTTONS, HEAD_CHARS, MAX_ALONE_CHARS] = [12, 5000, 40, 400, 1500];

  const parentOf = (element) => element.assignedSlot || element.parentElement || element.getRootNode().host || null;
  const isVisible = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 4 && box.height > 4 && element.checkVisibility({visibilityProperty: true, opacityProperty: true});
  };
  function* walk(root) {
    const stack = [root];
    while (stack.length) {
      const node = stack.pop();
      if (node.nodeType === Node.ELEMENT_NODE) yield node;
      if (node.shadowRoot) stack.push(node.shadowRoot);
      for (let child = node.lastElementChild; child; child = child.previousElementSibling) stack.push(child);
    }
  }
  const textOf = (root) => {
    let text = '';
    const stack = [root];
    while (stack.length && text.length < MAX_CHARS + 1000) {
      const node = stack.pop();
      if (node.nodeType === Node.TEXT_NODE) { text += node.data + ' '; continue; }
      const isElement = node.nodeType === Node.ELEMENT_NODE;
      if (isElement && /^(?:SCRIPT|STYLE|NOSCRIPT|TEMPLATE)$/.test(node.nodeName)) continue;
      if (isElement && node !== root && !node.checkVisibility()) continue;
      for (let child = node.lastChild; child; child = child.previousSibling) stack.push(child);
      if (node.shadowRoot) stack.push(node.shadowRoot);
    }
    return text.replace(/\s+/g, ' ').trim();
  };
  const labelOf = (button) =>
    (button.getAttribute('aria-label') || button.value || textOf(button) || button.title || '').replace(/\s+/g, ' ').trim().slice(0, 80);
  const isFloating = (element, style) =>
    style.position === 'fixed' || style.position === 'sticky' || (style.position === 'absolute' && +style.zIndex >= 10) ||
    (element.localName === 'dialog' && element.open) || element.getAttribute('aria-modal') === 'true';
  const contains = (outer, inner) => {
    for (let node = parentOf(inner); node; node = parentOf(node)) if (node === outer) return true;
    return false;
  };
  const shareOfPage = (element) => textOf(element).length / Math.max(1, (document.body.innerText || '').length);

  const describe = (element, isFirst) => {
    const style = getComputedStyle(element);
    const isNamed = NAME.test(`${element.id} ${element.getAttribute('class') || ''}`) && !/policy/i.test(element.id);
    const floats = isFloating(element, style);
    if (!(floats || isFirst || isNamed) || !isVisible(element)) return null;
    const text = textOf(element);
    if (text.length < MIN_CHARS || text.length > MAX_CHARS || OTHER.test(text.slice(0, HEAD_CHARS))) return null;
    if (element.querySelector('input[type=password]')) return null;
    if (isNamed && !isFirst && !floats && window === top && (shareOfPage(element) > 0.5 || element.querySelector('h1'))) return null;
    const buttons = [...walk(element)].filter((one) => one.matches('button, [role=button], input[type=button], input[type=submit], a') && isVisible(one));
    const labels = buttons.map((one) => [one, labelOf(one)]).filter(([, label]) => label);
    if (labels.length > MAX_BUTTONS) return null;
    const isInPlace = (one) => one.localName !== 'a' || !one.href || one.getAttribute('href').startsWith('#');
    const pick = (test) => (labels.find(test) || [null])[0];
    const refuse = pick(([, label]) => REFUSE.test(label));
    const accept = pick(([, label]) => ACCEPT.test(label) && !REFUSE.test(label));
    const settings = pick(([one, label]) => SETTINGS.test(label) && !REFUSE.test(label) && !SAVE.test(label) && isInPlace(one));
    const offersBoth = refuse && accept && EVERYTHING.test(`${labelOf(refuse)} ${labelOf(accept)}`);
    // The content of the page stays, unless it is nothing but the question.
    const isModal = (element.localName === 'dialog' && element.open) || element.getAttribute('aria-modal') === 'true';
    const asksAlone = refuse && accept && text.length < MAX_ALONE_CHARS && (isModal || offersBoth);
    if (element.querySelector('main, h1') && !asksAlone && shareOfPage(element) > 0.3) return null;
    if (!TOPIC.test(text) && !offersBoth) return null;
    // An article about cookies asks nothing.
    const close = pick(([, label]) => CLOSE.test(label));
    const asks = accept && (settings || TOPIC.test(text.slice(0, 300)));
    const informs = close && isNamed && TOPIC.test(text);
    if (!refuse && !asks && !informs) return null;
    // The header of a site may mention cookies and offer to accept something.
    if (!refuse && !settings && (element.localName === 'nav' || (style.position === 'sticky' && !isNamed))) return null;
    return {
      element, refuse, settings,
      save: pick(([, label]) => SAVE.test(label) && !(ACCEPT.test(label) && EVERYTHING.test(label))),
      close,
    };
  };

  const hasBoxes = (element) => element.querySelector('input[type=checkbox]') !== null;
  const find = () => {
    const found = [];
    let number = 0;
    for (const element of walk(document.body)) {
      const isFirst = element.parentElement === document.body && number++ < 3 && element.getBoundingClientRect().top < 20;
      const banner = describe(element, isFirst);
      if (banner) found.push(banner);
    }
    const outer = found.filter((one) => !found.some((other) => other !== one && contains(other.element, one.element)));
    return outer.find((one) => one.refuse) || outer.find((one) => one.save && hasBoxes(one.element)) || outer[0];
  };

  const release = () => {
    for (const element of [document.documentElement, document.body]) {
      const style = getComputedStyle(element);
      if (style.overflowY === 'hidden') element.style.setProperty('overflow', 'auto', 'important');
      if (style.position === 'fixed') element.style.setProperty('position', 'static', 'important');
    }
    for (const element of document.querySelectorAll('[inert]')) if (textOf(element).length > 400) element.removeAttribute('inert');
  };
  const hide = (element) => {
    element.style.setProperty('display', 'none', 'important');
    if (element.localName === 'dialog' && element.open) element.close();
    for (const shade of walk(document.body)) {
      const box = shade.getBoundingClientRect();
      const covers = box.width >= innerWidth * 0.98 && box.height >= innerHeight * 0.98;
      const isEmpty = textOf(shade).length < 3 && !shade.querySelector('img, video, canvas, iframe');
      if (covers && isEmpty && getComputedStyle(shade).position === 'fixed') shade.style.setProperty('display', 'none', 'important');
    }
    release();
  };

  let last = null;
  const at = (way, button) => {
    button.scrollIntoView({block: 'nearest'});
    const box = button.getBoundingClientRect();
    return {way, x: box.x + box.width / 2, y: box.y + box.height / 2, label: labelOf(button)};
  };
  return {
    // What to do next: press a button at a point, or hide the banner. `null` if there is none.
    plan(hasOpenedSettings) {
      const banner = find();
      if (!banner) return null;
      last = banner.element;
      if (banner.refuse) return at('refuse', banner.refuse);
      if (hasOpenedSettings && banner.save && hasBoxes(last)) {
        for (const box of last.querySelectorAll('input[type=checkbox]')) if (box.checked && !box.disabled && box.checkVisibility()) box.click();
        return at('save', banner.save);
      }
      if (!hasOpenedSettings && banner.settings) return at('settings', banner.settings);
      return banner.close ? at('close', banner.close) : {way: 'hide'};
    },
    isGone: () => !last || !last.isConnected || !isVisible(last),
    hide() { if (last) hide(last); },
    release,
  };
})()
