// Finds consent banners and the button that refuses. It never returns a button that accepts.
(() => {
  // `consent_words.js` is before this script.
  const [MIN_CHARS, MAX_CHARS, MAX_MODAL_CHARS, MAX_BUTTONS, MAX_LABEL] = [12, 5000, 60000, 40, 80];
  const [HEAD_CHARS, TITLE_CHARS, MIN_ALONE_CHARS, MAX_ALONE_CHARS, MAX_TOP, MAX_DEPTH, MAX_HOSTS, MAX_LINK] = [600, 80, 60, 1500, 20, 6, 30, 40];

  const closedRoots = new Map();
  const rootOf = (element) => element.shadowRoot || closedRoots.get(element);
  const parentOf = (element) => element.assignedSlot || element.parentElement || element.getRootNode().host || null;
  const isVisible = (element) => {
    // First: a box in a closed `details` would be laid out to be measured, and then seem to be visible.
    if (!element.checkVisibility({visibilityProperty: true, opacityProperty: true})) return false;
    const box = element.getBoundingClientRect();
    return box.width > 4 && box.height > 4;
  };
  // A drawing has no body, and a script may remove it: then there is nothing to walk through.
  function* walk(root) {
    const stack = root ? [root] : [];
    while (stack.length) {
      const node = stack.pop();
      if (node.nodeType === Node.ELEMENT_NODE) yield node;
      if (rootOf(node)) stack.push(rootOf(node));
      for (let child = node.lastElementChild; child; child = child.previousElementSibling) stack.push(child);
    }
  }
  const textOf = (root, limit = MAX_MODAL_CHARS) => {
    let text = '';
    const stack = root ? [root] : [];
    while (stack.length && text.length < limit + 1000) {
      const node = stack.pop();
      if (node.nodeType === Node.TEXT_NODE) {
        const part = node.data.trim();
        if (part) text += part + ' ';
        continue;
      }
      const isElement = node.nodeType === Node.ELEMENT_NODE;
      if (isElement && /^(?:SCRIPT|STYLE|NOSCRIPT|TEMPLATE)$/.test(node.nodeName)) continue;
      if (isElement && node !== root && !node.checkVisibility()) continue;
      for (let child = node.lastChild; child; child = child.previousSibling) stack.push(child);
      if (rootOf(node)) stack.push(rootOf(node));
    }
    return text.replace(/\s+/g, ' ').trim();
  };
  const tidy = (text) => (text || '').replace(/\s+/g, ' ').trim();
  // All names of a button: what a person sees comes first.
  const labelsOf = (button) => {
    const own = [button.localName === 'input' ? button.value : textOf(button, 200), button.getAttribute('aria-label'), button.title];
    return own.map(tidy).filter((label) => label && label.length <= MAX_LABEL);
  };
  const isFloating = (element, style) => {
    const {position} = style;
    return position === 'fixed' || position === 'sticky' || (position === 'absolute' && +style.zIndex >= 10) ||
      (element.localName === 'dialog' && element.open) || element.getAttribute('aria-modal') === 'true' || isOnTop(element);
  };
  const isOnTop = (element) => (element.localName === 'dialog' || element.hasAttribute('popover')) && element.matches(':popover-open, :modal');
  const isNamed = (element) =>
    (element.id || element.hasAttribute('class') || element.localName.includes('-')) && NAME.test(`${element.id} ${element.getAttribute('class') || ''} ${element.localName}`) && !/policy/i.test(element.id);
  const contains = (outer, inner) => {
    for (let node = parentOf(inner); node; node = parentOf(node)) if (node === outer) return true;
    return false;
  };
  const isMoreOfPage = (length, share) => textOf(document.body, length / share).length < length / share;

  const BUTTONS = 'button, [role=button], input[type=button], input[type=submit], a, [onclick], [tabindex]';
  const isButton = (element) =>
    element.matches(BUTTONS) || (element.childElementCount < 4 && getComputedStyle(element).cursor === 'pointer' && getComputedStyle(parentOf(element) || element).cursor !== 'pointer');
  const buttonsOf = (box) => {
    const buttons = [...walk(box)].filter((one) => one !== box && isButton(one) && isVisible(one));
    const found = buttons.map((one) => [one, labelsOf(one)]).filter(([, labels]) => labels.length);
    // A button inside another box with a role or a tabindex is the button.
    return found.filter(([one]) => !found.some(([other]) => other !== one && contains(one, other)));
  };
  const isInPlace = (one) => one.localName !== 'a' || !one.href || one.getAttribute('href').startsWith('#') || one.href.startsWith('javascript:');
  const refuses = (label, isAboutCookies) =>
    !NO_REFUSAL.test(label) && (REFUSE.test(label) || (NEEDED_ONLY.test(label) && !ALL_OF.test(label)) || (isAboutCookies && NO.test(label)));
  const needs = (label) => NEEDED_COOKIES.test(label) && !AND_MORE.test(label) && !ALL_OF.test(label);
  const accepts = (label) => ACCEPT.test(label) && !refuses(label, true) && !needs(label);
  const BOXES = 'input[type=checkbox], [role=switch], [role=checkbox]';
  const boxesOf = (element) => [...walk(element)].filter((one) => one.matches(BOXES));
  const isOn = (box) => !box.disabled && box.getAttribute('aria-disabled') !== 'true' && (box.localName === 'input' ? box.checked : box.getAttribute('aria-checked') === 'true');

  const describe = (element, depth, isFloatingFrame) => {
    const style = getComputedStyle(element);
    const isWholeFrame = isFloatingFrame && element === document.body;
    const named = isNamed(element);
    const floats = isWholeFrame || isFloating(element, style) || /^(?:alert)?dialog$/.test(element.getAttribute('role') || '');
    let isFirst = depth <= MAX_DEPTH && isAtTop(element) && mayAsk(element);
    if (!(floats || isFirst || named) || !(isVisible(element) || rootOf(element))) return null;
    const isModal = isWholeFrame || (element.localName === 'dialog' && element.open) || element.getAttribute('aria-modal') === 'true' || (floats && named);
    const maxChars = isModal ? MAX_MODAL_CHARS : MAX_CHARS;
    const text = textOf(element, maxChars);
    if (text.length < MIN_CHARS || text.length > maxChars) return null;
    isFirst = isFirst && (depth === 1 || !isMoreOfPage(text.length, 0.5));
    if (!(floats || isFirst || named)) return null;
    const isAboutCookies = TOPIC.test(text);
    if (!isAboutCookies && !PRIVACY.test(text) && !(floats && (named || EVERYTHING.test(text)))) return null;
    // Cookies may serve a basket or a sign-in: only words before them are what the box is about.
    const topicAt = text.search(TOPIC);
    const title = text.slice(0, topicAt < 0 ? TITLE_CHARS : Math.min(TITLE_CHARS, topicAt));
    if (AGE.test(text.slice(0, HEAD_CHARS)) || BASKET.test(title) || SIGN_IN.test(title)) return null;
    const fields = 'input[type=password], input[type=email], input[type=tel], input[autocomplete=username]';
    if ([...walk(element)].some((one) => one.matches(fields) && isVisible(one))) return null;
    if (named && !isFirst && !floats && window === top && (isMoreOfPage(text.length, 0.5) || element.querySelector('h1'))) return null;
    const buttons = buttonsOf(element);
    const pick = (test) => (buttons.find(([one, labels]) => test(labels, one)) || [null])[0];
    if (buttons.length > MAX_BUTTONS && !named && !(floats && isAboutCookies)) return null;
    if (buttons.some(([, labels]) => labels.some((label) => BASKET.test(label)))) return null;
    const any = (test) => (labels) => labels.some(test);
    // Chosen by the first label: `aria-label` may say something else than what is shown.
    const mayPress = (label, one) => isInPlace(one) || (label.length < MAX_LINK && refuses(label, false) && !SETTINGS.test(label));
    const isRefusal = (labels, one) => refuses(labels[0], isAboutCookies) && !labels.some(accepts) && mayPress(labels[0], one);
    const boxes = boxesOf(element);
    const refuse = pick((labels, one) => isRefusal(labels, one) && !SETTINGS.test(labels[0])) || pick(isRefusal) ||
      (boxes.length ? null : pick((labels, one) => needs(labels[0]) && isInPlace(one)));
    const accept = pick(any(accepts));
    const isNeither = (labels) => !labels.some((label) => accepts(label) || refuses(label, isAboutCookies));
    const opens = (test) => pick((labels, one) => test.test(labels[0]) && isNeither(labels) && !SAVE.test(labels[0]) && isInPlace(one));
    const settings = opens(SETTINGS) || opens(MORE);
    // "3 requests: accept all, reject all" answers for what a list has selected.
    const isAboutItems = !isAboutCookies && !PRIVACY.test(text) && /\d/.test(text);
    const offersBoth = refuse && accept && !isAboutItems && EVERYTHING.test(`${labelsOf(refuse)[0]} ${labelsOf(accept)[0]}`);
    // The content of the page stays, unless it is nothing but the question.
    const asksAlone = refuse && accept && text.length < MAX_ALONE_CHARS && (isModal || offersBoth);
    if (element.querySelector('main, h1') && !asksAlone && !isWholeFrame && isMoreOfPage(text.length, 0.3)) return null;
    const isPrivate = PRIVACY.test(text) && (named || (refuse && accept && settings) || (PRIVACY.test(text.slice(0, 40)) && (refuse || settings) && !SIGN_IN.test(text)));
    if (!isAboutCookies && !(isPrivate && (accept || named)) && !(offersBoth && floats) && !(named && floats && (accept || refuse))) return null;
    // An article about cookies asks nothing.
    const close = IMPLIED.test(text) ? null : pick((labels) => labels.some((label) => CLOSE.test(label)) && !labels.some(accepts));
    const asks = accept && (settings || isAboutCookies && (TOPIC.test(text.slice(0, 300)) || floats));
    const informs = named && (close || (floats && buttons.length && text.length > MIN_ALONE_CHARS));
    if (!(refuse && (accept || floats || named)) && !asks && !informs) return null;
    if (!refuse && !floats && !named && (!settings || text.length > MAX_ALONE_CHARS || isMoreOfPage(text.length, 0.5))) return null;
    // The header of a site may mention cookies and offer to accept something.
    const isPartOfPage = /^(?:nav|header|footer)$/.test(element.localName) || (style.position === 'sticky' && !settings);
    if (!refuse && !named && (isPartOfPage || SEARCH.test(text.slice(0, HEAD_CHARS)))) return null;
    const save = pick((labels) => SAVE.test(labels[0]) && !labels.some((label) => ACCEPT.test(label) && EVERYTHING.test(label)));
    return {element, refuse, settings, save, close, boxes, isClear: floats || named};
  };

  const depthOf = (element) => {
    let depth = 0;
    for (let node = element; node && node !== document.body && depth <= MAX_DEPTH; node = parentOf(node)) depth++;
    return depth;
  };
  const isAtTop = (element) => {
    const box = element.getBoundingClientRect();
    return box.top + scrollY < MAX_TOP && box.width > innerWidth / 2;
  };
  const mayAsk = (element) => element !== document.body && !/^(?:main|article)$/.test(element.localName) && element.checkVisibility() &&
    (rootOf(element) || element.querySelector('button, input, a, [role=button]'));
  const find = (isFloatingFrame) => {
    let found = [];
    const stack = document.body ? [[document.body, 0]] : [];
    while (stack.length) {
      const [element, depth] = stack.pop();
      // A box without elements has no button, nor has a drawing.
      if (element instanceof SVGElement) continue;
      const roots = rootOf(element) ? [element, rootOf(element)] : [element];
      const children = roots.flatMap((root) => [...root.children]).reverse();
      const banner = children.length || roots.length > 1 ? describe(element, depth, isFloatingFrame) : null;
      if (banner) found.push(banner);
      if (!banner?.isClear) for (const child of children) stack.push([child, depth + 1]);
    }
    // In-flow boxes may be wrappers of the page.
    if (found.some((one) => one.isClear)) found = found.filter((one) => one.isClear);
    const outer = found.filter((one) => !found.some((other) => other !== one && contains(other.element, one.element)));
    return outer.find((one) => one.refuse) || outer.find((one) => one.save && one.boxes.length) || outer[0];
  };

  const release = () => {
    for (const element of [document.documentElement, document.body].filter(Boolean)) {
      const style = getComputedStyle(element);
      if (style.overflowY === 'hidden') element.style.setProperty('overflow', 'auto', 'important');
      if (style.position === 'fixed') element.style.setProperty('position', 'static', 'important');
    }
    for (const element of document.querySelectorAll('[inert]')) if (textOf(element).length > 400) element.removeAttribute('inert');
  };
  const isEmpty = (element) => textOf(element).length < 3 && !element.querySelector('img, video, canvas, iframe');
  const hide = (element) => {
    const {length} = textOf(element);
    const isPage = element === document.body || (isMoreOfPage(length, 0.5) && (element.querySelector('main, h1') || length > MAX_ALONE_CHARS));
    if (isPage) return;
    element.style.setProperty('display', 'none', 'important');
    if (element.localName === 'dialog' && element.open) element.close();
    for (const shade of walk(document.body)) {
      if (!shade.checkVisibility()) continue;
      const box = shade.getBoundingClientRect();
      const covers = box.width >= innerWidth * 0.98 && box.height >= innerHeight * 0.98;
      if (covers && isEmpty(shade) && getComputedStyle(shade).position === 'fixed') shade.style.setProperty('display', 'none', 'important');
    }
    release();
  };
  // The box around a frame has nothing else.
  const boxOfFrame = (frame) => {
    let box = frame;
    for (let outer = parentOf(box); outer && outer !== document.body; outer = parentOf(outer)) {
      if (textOf(outer).length > 3 || outer.querySelectorAll('iframe, img, video').length > 1) break;
      box = outer;
    }
    return box;
  };

  let last = null;
  let button = null;
  const hits = (element, x, y) => {
    let hit = document.elementFromPoint(x, y);
    while (hit && rootOf(hit) && rootOf(hit).elementFromPoint(x, y) && rootOf(hit).elementFromPoint(x, y) !== hit) hit = rootOf(hit).elementFromPoint(x, y);
    return hit !== null && (hit === element || contains(element, hit));
  };
  const at = (way, element) => {
    button = element;
    element.scrollIntoView({block: 'nearest', behavior: 'instant'});
    const box = element.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    return {way, x, y, label: labelsOf(element)[0], isCovered: !hits(element, x, y)};
  };
  const untick = (boxes) => {
    for (const box of boxes) if (isOn(box)) box.click();
    return !boxes.some(isOn);
  };
  return {
    // What to do next: press a button at a point, or hide the banner. `null` if there is none.
    plan(hasOpenedSettings, isFloatingFrame = false) {
      const banner = find(isFloatingFrame);
      if (!banner) return null;
      last = banner.element;
      if (banner.refuse) return at('refuse', banner.refuse);
      if (banner.save && banner.boxes.length && (hasOpenedSettings || !banner.settings) && untick(banner.boxes)) return at('save', banner.save);
      if (!hasOpenedSettings && banner.settings) return at('settings', banner.settings);
      return banner.close ? at('close', banner.close) : {way: 'hide'};
    },
    // Press the button of the plan by script, where something covers it.
    press() { if (button) button.click(); },
    isGone: () => !last || !last.isConnected || !isVisible(last),
    hide() { if (last) hide(last); },
    // For frames: whether a frame of this document is a box over the page, and hide that box.
    isFloatingFrame(frame) {
      for (let node = frame; node && node !== document.body; node = parentOf(node)) if (isFloating(node, getComputedStyle(node)) || isNamed(node)) return true;
      return false;
    },
    hideFrame(frame) { hide(boxOfFrame(frame)); },
    // Hide the box of a frame that was not loaded and covers the page, which would take all clicks.
    hideUnloaded(frame) {
      const {width, height} = boxOfFrame(frame).getBoundingClientRect();
      if (!this.isFloatingFrame(frame) || width * height < innerWidth * innerHeight / 2) return false;
      this.hideFrame(frame);
      return true;
    },
    // Elements that may have a closed shadow root, which only the browser can open.
    hosts() {
      const found = [];
      for (const one of walk(document.body)) {
        const mayHost = one.localName.includes('-') || /^(?:div|section|aside|span|article|header|footer)$/.test(one.localName);
        if (!mayHost || rootOf(one) || one.firstElementChild || tidy(one.textContent)) continue;
        if (depthOf(one) <= 3 || one.localName.includes('-') || isNamed(one)) found.push(one);
        if (found.length >= MAX_HOSTS) break;
      }
      return found;
    },
    addClosedRoot(root) { closedRoots.set(root.host, root); },
    release,
  };
})()
