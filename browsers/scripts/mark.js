// Marks invisible content, cuts the page at the maximum of elements, and returns the document.
(maxElements, ...nodesInClosedRoots) => {
  const HIDDEN = 'data-x-hidden';
  // Beyond this many elements only `checkVisibility` is used: computed styles cost microseconds each.
  const MAX_STYLED_ELEMENTS = 20000;
  const MIN_FONT_PX = 4;
  const MIN_ALPHA = 0.1;
  const MIN_CONTRAST = 1.1;
  const MIN_OPACITY = 0.05;
  const MIN_BOX_PX = 2;
  // Right of everything that can be scrolled to: rows of images are wide, and 9999 px is used to hide text.
  const MAX_SCROLLABLE_PX = 9000;
  const NON_TEXT_ELEMENTS = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'LINK', 'META', 'BR', 'HEAD', 'TITLE']);

  // Their text is drawn by the control, so a range around it has no box.
  const CONTROLS_WITH_TEXT = new Set(['OPTION', 'OPTGROUP', 'TEXTAREA']);

  // The controls of a form shadow its own properties by their names.
  const getter = (type, name) => {
    const get = Object.getOwnPropertyDescriptor(type.prototype, name).get;
    return (node) => get.call(node);
  };
  const method = (type, name) => {
    const call = type.prototype[name];
    return (node, ...args) => call.apply(node, args);
  };
  const nameOf = getter(Node, 'nodeName');
  const firstChild = getter(Node, 'firstChild');
  const nextSibling = getter(Node, 'nextSibling');
  const lastElement = getter(Element, 'lastElementChild');
  const previousElement = getter(Element, 'previousElementSibling');
  const openRoot = getter(Element, 'shadowRoot');
  const boxOf = method(Element, 'getBoundingClientRect');
  const isVisible = method(Element, 'checkVisibility');
  const setAttribute = method(Element, 'setAttribute');
  const rootOf = method(Node, 'getRootNode');
  const closedRoots = new Map(nodesInClosedRoots.map((node) => [rootOf(node).host, rootOf(node)]));
  const shadowOf = (element) => openRoot(element) || closedRoots.get(element);

  // Pages have few colors and many elements: parsing a color costs more than all styles of an element.
  const parsedColors = new Map();
  let canvas;
  // Colors that are not in RGB form are painted to read their values.
  const readPaintedColor = (color) => {
    canvas ||= new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, opaque] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, opaque / 255];
  };
  const parseColor = (color) => {
    let found = parsedColors.get(color);
    if (!found) {
      found = color.startsWith('rgb') ? color.match(/[\d.]+/g).map(Number) : readPaintedColor(color);
      parsedColors.set(color, found);
    }
    return found;
  };
  const alpha = (rgb) => (rgb.length > 3 ? rgb[3] : 1);
  const channel = (value) => {
    const part = value / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  const luminances = new Map();
  const luminance = (rgb) => {
    let value = luminances.get(rgb);
    if (value === undefined) {
      value = 0.2126 * channel(rgb[0]) + 0.7152 * channel(rgb[1]) + 0.0722 * channel(rgb[2]);
      luminances.set(rgb, value);
    }
    return value;
  };
  const contrast = (one, other) => {
    const a = luminance(one);
    const b = luminance(other);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const isAnimated = (style, property) =>
    style.animationName !== 'none' ||
    (style.transitionDuration !== '0s' && (style.transitionProperty === 'all' || style.transitionProperty.includes(property)));
  const isText = (node) => node.nodeType === 3 && /\S/.test(node.data);
  const hasText = (element) => {
    for (let node = firstChild(element); node; node = nextSibling(node)) {
      if (isText(node)) return true;
    }
    return false;
  };
  const clearText = (element) => {
    for (let node = firstChild(element); node; node = nextSibling(node)) {
      if (node.nodeType === 3) node.data = '';
    }
  };
  // Clips and masks that hide everything: a circle without radius, an empty path, no gradient, no size.
  const EMPTY_CLIP = /^(?:(?:circle|ellipse)\(0(?:px|%)?\b(?!\.)|polygon\((?:0(?:px|%)? 0(?:px|%)?(?:, )?)+\)|path\("[^"A-LN-Ya-ln-y]*"\))/;
  const INSET = /^inset\(([^()]*?)(?: round .*)?\)$/;
  const NO_SIZE = /^0(?:px|%)?(?: |$)/;
  const NO_OPACITY = /opacity\((?:0|0?\.0\d*)\)/;
  const NO_MASK = /^linear-gradient\((?:to [a-z ]+, |[\d.]+deg, )?rgba\(0, 0, 0, 0\)(?: [\d.]+%)?, rgba\(0, 0, 0, 0\)(?: [\d.]+%)?\)$/;
  const isClippedAway = (element, path) => {
    if (EMPTY_CLIP.test(path)) return true;
    const inset = INSET.exec(path);
    if (!inset) return false;
    const [top, right = top, bottom = top, left = right] = inset[1].split(' ');
    const box = boxOf(element);
    const cut = (side, whole) => (parseFloat(side) || 0) * (side.endsWith('%') ? whole / 100 : 1);
    return cut(top, box.height) + cut(bottom, box.height) >= box.height || cut(left, box.width) + cut(right, box.width) >= box.width;
  };
  // The deprecated `clip`: rect(top, right, bottom, left).
  const isClipEmpty = (clip) => {
    const [top, right, bottom, left] = clip.match(/-?[\d.]+px|auto/g).map(parseFloat);
    return right - left < MIN_BOX_PX || bottom - top < MIN_BOX_PX;
  };
  // Drawn only where another element uses them.
  const undrawn = document.querySelector('use') ? '' : 'defs,symbol,clipPath,mask,marker,pattern';
  // Returns true if the whole subtree is invisible.
  const hidesAll = (element, style, opacity) => {
    if (undrawn && element instanceof SVGElement && element.matches(undrawn)) return true;
    if (style.display === 'none' || style.contentVisibility === 'hidden') return true;
    if (opacity < MIN_OPACITY) return true;
    if (style.clipPath !== 'none' && isClippedAway(element, style.clipPath)) return true;
    if (style.filter !== 'none' && NO_OPACITY.test(style.filter) && !isAnimated(style, 'filter')) return true;
    if (style.maskImage !== 'none' && (NO_MASK.test(style.maskImage) || NO_SIZE.test(style.maskSize))) return true;
    if (style.position === 'absolute' || style.position === 'fixed') {
      if (style.clip !== 'auto' && isClipEmpty(style.clip)) return true;
      if (style.position === 'fixed') {
        // It cannot be scrolled into view.
        const box = boxOf(element);
        if (box.left >= innerWidth || box.top >= innerHeight) return true;
      }
    }
    if (style.overflowX !== 'visible' || style.overflowY !== 'visible') {
      const box = boxOf(element);
      if ((box.width < MIN_BOX_PX || box.height < MIN_BOX_PX) && style.display !== 'contents') {
        return element !== document.body && element !== document.documentElement;
      }
    }
    return false;
  };
  const range = document.createRange();
  const maxLeft = Math.max(innerWidth, document.documentElement ? document.documentElement.scrollWidth : 0) + MAX_SCROLLABLE_PX;
  const parentOf = getter(Node, 'parentElement');
  const slotOf = getter(Element, 'assignedSlot');
  const scrollTop = getter(Element, 'scrollTop');
  const scrollLeft = getter(Element, 'scrollLeft');
  // A box around it is scrolled: what stands above or left of the page can be scrolled into view.
  const isScrolledOut = (node) => {
    const up = (one) => (one.nodeType === 1 && slotOf(one)) || parentOf(one) || rootOf(one).host;
    for (let one = up(node); one; one = up(one)) {
      if (scrollTop(one) > 0 || scrollLeft(one) > 0) return one !== document.documentElement;
    }
    return false;
  };
  const isOnPage = (node) => {
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    const left = box.left + scrollX;
    if (box.width < 1 || box.height < 1 || left >= maxLeft) return false;
    return (left + box.width >= 0 && box.bottom + scrollY >= 0) || isScrolledOut(node);
  };
  const hasLowContrast = (color, background) =>
    alpha(color) < MIN_ALPHA || (background && contrast(color, background) < MIN_CONTRAST);
  // SVG text has a fill and a stroke, which may be patterns.
  const isPaintInvisible = (paint, opacity, background) =>
    paint === 'none' || opacity < MIN_ALPHA || (!paint.startsWith('url') && hasLowContrast(parseColor(paint), background));
  const hasLowContrastText = (element, style, background, textFill) => {
    if (element instanceof SVGElement) {
      const { fill, fillOpacity, stroke, strokeOpacity } = style;
      return isPaintInvisible(fill, fillOpacity, background) && isPaintInvisible(stroke, strokeOpacity, background);
    }
    if (!hasLowContrast(parseColor(style.webkitTextFillColor), background)) return false;
    // Text filled with the background.
    return !textFill || hasLowContrast(textFill, background);
  };
  // Returns true if the element's own text is invisible.
  const hidesText = (element, style, background, textFill) => {
    if (style.visibility !== 'visible') return true;
    if (parseFloat(style.fontSize) < MIN_FONT_PX) return true;
    if (hasLowContrastText(element, style, background, textFill)) return true;
    if (CONTROLS_WITH_TEXT.has(nameOf(element))) return false;
    // If one text node is visible, all are. Its box is cheaper than that of the whole content.
    for (let node = firstChild(element); node; node = nextSibling(node)) {
      if (isText(node) && isOnPage(node)) return false;
    }
    return !isOnPage(element);
  };
  // Returns the background of an element and the fill of its text; null without a color to compare.
  const PICTURE = [255, 0, 255];
  const findBackgrounds = (style, background, textFill) => {
    const color = style.backgroundImage === 'none' ? parseColor(style.backgroundColor) : null;
    if (color && alpha(color) <= 0.5) return [background, textFill];
    return style.webkitBackgroundClip.includes('text') ? [background, color || PICTURE] : [color, null];
  };

  // Returns the styles that change what an element's text says, by their names in text_styles.py.
  const RAISED = { super: 'raised', sub: 'lowered' };
  const LIST_TYPES = {
    'lower-alpha': 'a', 'lower-latin': 'a', 'upper-alpha': 'A', 'upper-latin': 'A', 'lower-roman': 'i', 'upper-roman': 'I',
  };
  const STRUCK = new Set(['S', 'DEL', 'STRIKE']);
  const KEEPS_LINES = new Set(['PRE', 'CODE', 'TEXTAREA', 'SAMP', 'KBD']);
  const BLOCKS = new Set(['block', 'flex', 'grid', 'table', 'list-item']);
  const textStyleOf = (name, style, element) => {
    const found = [];
    if (style.textDecorationLine.includes('line-through') && !STRUCK.has(name)) found.push('struck');
    if (/^pre|^break/.test(style.whiteSpace) && !KEEPS_LINES.has(name)) {
      for (let node = firstChild(element); node; node = nextSibling(node)) {
        if (!isText(node) || !/\S\s*\n\s*\S|\n\s*\n/.test(node.data)) continue;
        found.push(style.whiteSpace === 'pre-line' ? 'lines' : 'spaces');
        break;
      }
    }
    if (style.display.startsWith('inline') && name === 'DIV') found.push('inline');
    if (name === 'SPAN' && BLOCKS.has(style.display) && nextSibling(element)?.nodeType === 1) found.push('block');
    if (name === 'SPAN' && RAISED[style.verticalAlign]) found.push(RAISED[style.verticalAlign]);
    if (name === 'OL' && LIST_TYPES[style.listStyleType]) found.push(LIST_TYPES[style.listStyleType]);
    return found.join(' ');
  };

  const body = document.body;
  if (!body) return document;
  for (const details of document.querySelectorAll('details:not([open])')) details.open = true;
  const all = body.getElementsByTagName('*');
  if (all.length > maxElements) {
    const excess = document.createRange();
    excess.setStartAfter(all[maxElements]);
    excess.setEndAfter(body.lastChild);
    excess.deleteContents();
    document.documentElement.setAttribute('data-x-cut', '');
  }
  const [canvasBackground] = findBackgrounds(getComputedStyle(document.documentElement), [255, 255, 255], null);
  const stack = [[body, canvasBackground, 1, null]];
  let visited = 0;
  const marks = [];
  const textStyles = [];
  while (stack.length) {
    let [element, background, opacity, textFill] = stack.pop();
    const name = nameOf(element);
    if (!NON_TEXT_ELEMENTS.has(name)) {
      if (++visited > MAX_STYLED_ELEMENTS) {
        if (!isVisible(element, { opacityProperty: true }) && getComputedStyle(element).display !== 'contents') {
          marks.push(element);
          continue;
        }
      } else {
        const style = getComputedStyle(element);
        // Fades in on scrolling, so it is visible.
        if (style.opacity !== '1' && element !== body && !isAnimated(style, 'opacity')) opacity *= style.opacity;
        if (element !== body && hidesAll(element, style, opacity)) {
          marks.push(element);
          continue;
        }
        const textStyle = textStyleOf(name, style, element);
        if (textStyle) textStyles.push([element, textStyle]);
        [background, textFill] = findBackgrounds(style, background, textFill);
        if (hasText(element) && hidesText(element, style, background, textFill)) marks.push([element]);
      }
      const root = shadowOf(element);
      if (root) for (let child = root.lastElementChild; child; child = previousElement(child)) stack.push([child, background, opacity, textFill]);
    }
    // An SVG without text has nothing to hide, and icons have many elements.
    if (name === 'svg' && !/\S/.test(element.textContent)) continue;
    for (let child = lastElement(element); child; child = previousElement(child)) stack.push([child, background, opacity, textFill]);
  }
  // Write after all reads: a write between two reads would force a new layout each time.
  for (const mark of marks) {
    if (Array.isArray(mark)) clearText(mark[0]);
    else setAttribute(mark, HIDDEN, '');
  }
  for (const [element, textStyle] of textStyles) setAttribute(element, 'data-x-text', textStyle);
  document.documentElement.setAttribute('data-x-hidden-count', marks.length);
  return document;
}
