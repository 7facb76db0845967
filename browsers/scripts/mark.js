// Marks invisible content, cuts the page at the maximum of elements, and returns the document.
(maxElements, ...inClosedRoots) => {
  const HIDDEN = 'data-x-hidden';
  // Beyond this many elements only `checkVisibility` is used: computed styles cost microseconds each.
  const STYLED = 20000;
  const MIN_FONT_PX = 4;
  const MIN_ALPHA = 0.1;
  const MIN_CONTRAST = 1.1;
  const MIN_OPACITY = 0.05;
  const MIN_BOX_PX = 2;
  // Right of everything that can be scrolled to: rows of images are wide, and 9999 px is used to hide text.
  const FAR_PX = 9000;
  const SILENT = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'LINK', 'META', 'BR', 'HEAD', 'TITLE']);

  // Their text is drawn by the control, so a range around it has no box.
  const DRAWN = new Set(['OPTION', 'OPTGROUP', 'TEXTAREA']);

  // The controls of a form shadow its own properties by their names.
  const getter = (type, name) => {
    const get = Object.getOwnPropertyDescriptor(type.prototype, name).get;
    return (node) => get.call(node);
  };
  const method = (type, name) => {
    const call = type.prototype[name];
    return (node, ...given) => call.apply(node, given);
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
  const closed = new Map(inClosedRoots.map((node) => [rootOf(node).host, rootOf(node)]));
  const shadowOf = (element) => openRoot(element) || closed.get(element);

  // Pages have few colors and many elements: parsing a color costs more than all styles of an element.
  const parsed = new Map();
  let canvas;
  // Colors that are not in RGB form are painted to read their values.
  const painted = (color) => {
    canvas ||= new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, opaque] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, opaque / 255];
  };
  const numbers = (color) => {
    let found = parsed.get(color);
    if (!found) {
      found = color.startsWith('rgb') ? color.match(/[\d.]+/g).map(Number) : painted(color);
      parsed.set(color, found);
    }
    return found;
  };
  const alpha = (rgb) => (rgb.length > 3 ? rgb[3] : 1);
  const channel = (value) => {
    const part = value / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  const lights = new Map();
  const luminance = (rgb) => {
    let light = lights.get(rgb);
    if (light === undefined) {
      light = 0.2126 * channel(rgb[0]) + 0.7152 * channel(rgb[1]) + 0.0722 * channel(rgb[2]);
      lights.set(rgb, light);
    }
    return light;
  };
  const contrast = (one, other) => {
    const a = luminance(one);
    const b = luminance(other);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const moves = (style, property) =>
    style.animationName !== 'none' ||
    (style.transitionDuration !== '0s' && (style.transitionProperty === 'all' || style.transitionProperty.includes(property)));
  const isText = (node) => node.nodeType === 3 && /\S/.test(node.data);
  const hasText = (element) => {
    for (let node = firstChild(element); node; node = nextSibling(node)) {
      if (isText(node)) return true;
    }
    return false;
  };
  const silence = (element) => {
    for (let node = firstChild(element); node; node = nextSibling(node)) {
      if (node.nodeType === 3) node.data = '';
    }
  };
  // Clips and masks that hide everything: a circle without radius, an empty path, no gradient, no size.
  const NOTHING_LEFT = /^(?:(?:circle|ellipse)\(0(?:px|%)?\b(?!\.)|polygon\((?:0(?:px|%)? 0(?:px|%)?(?:, )?)+\)|path\("[^"A-LN-Ya-ln-y]*"\))/;
  const INSET = /^inset\(([^()]*?)(?: round .*)?\)$/;
  const NO_SIZE = /^0(?:px|%)?(?: |$)/;
  const NO_OPACITY = /opacity\((?:0|0?\.0\d*)\)/;
  const NO_MASK = /^linear-gradient\((?:to [a-z ]+, |[\d.]+deg, )?rgba\(0, 0, 0, 0\)(?: [\d.]+%)?, rgba\(0, 0, 0, 0\)(?: [\d.]+%)?\)$/;
  const clipsAll = (element, path) => {
    if (NOTHING_LEFT.test(path)) return true;
    const inset = INSET.exec(path);
    if (!inset) return false;
    const [top, right = top, bottom = top, left = right] = inset[1].split(' ');
    const box = boxOf(element);
    const cut = (side, whole) => (parseFloat(side) || 0) * (side.endsWith('%') ? whole / 100 : 1);
    return cut(top, box.height) + cut(bottom, box.height) >= box.height || cut(left, box.width) + cut(right, box.width) >= box.width;
  };
  // The deprecated `clip`: rect(top, right, bottom, left).
  const clipLeavesNothing = (clip) => {
    const [top, right, bottom, left] = clip.match(/-?[\d.]+px|auto/g).map(parseFloat);
    return right - left < MIN_BOX_PX || bottom - top < MIN_BOX_PX;
  };
  // Returns true if the whole subtree is invisible.
  const hidesAll = (element, style, opacity) => {
    if (style.display === 'none' || style.contentVisibility === 'hidden') return true;
    if (opacity < MIN_OPACITY) return true;
    if (style.clipPath !== 'none' && clipsAll(element, style.clipPath)) return true;
    if (style.filter !== 'none' && NO_OPACITY.test(style.filter) && !moves(style, 'filter')) return true;
    if (style.maskImage !== 'none' && (NO_MASK.test(style.maskImage) || NO_SIZE.test(style.maskSize))) return true;
    if (style.position === 'absolute' || style.position === 'fixed') {
      if (style.clip !== 'auto' && clipLeavesNothing(style.clip)) return true;
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
  const far = Math.max(innerWidth, document.documentElement ? document.documentElement.scrollWidth : 0) + FAR_PX;
  const isSeen = (node) => {
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    const left = box.left + scrollX;
    return left + box.width >= 0 && left < far && box.bottom + scrollY >= 0 && box.width >= 1 && box.height >= 1;
  };
  const isPale = (color, background) =>
    alpha(color) < MIN_ALPHA || (background && contrast(color, background) < MIN_CONTRAST);
  // SVG text has a fill and a stroke, which may be patterns.
  const isUnpainted = (paint, opacity, background) =>
    paint === 'none' || opacity < MIN_ALPHA || (!paint.startsWith('url') && isPale(numbers(paint), background));
  const isPaleText = (element, style, background, behind) => {
    if (element instanceof SVGElement) {
      const { fill, fillOpacity, stroke, strokeOpacity } = style;
      return isUnpainted(fill, fillOpacity, background) && isUnpainted(stroke, strokeOpacity, background);
    }
    if (!isPale(numbers(style.webkitTextFillColor), background)) return false;
    // Text filled with the background.
    return !behind || isPale(behind, background);
  };
  // Returns true if the element's own text is invisible.
  const hidesText = (element, style, background, behind) => {
    if (style.visibility !== 'visible') return true;
    if (parseFloat(style.fontSize) < MIN_FONT_PX) return true;
    if (isPaleText(element, style, background, behind)) return true;
    if (DRAWN.has(nameOf(element))) return false;
    // If one text node is visible, all are. Its box is cheaper than that of the whole content.
    for (let node = firstChild(element); node; node = nextSibling(node)) {
      if (isText(node) && isSeen(node)) return false;
    }
    return !isSeen(element);
  };
  // Returns the background of an element and the fill of its text; null without a color to compare.
  const PICTURE = [255, 0, 255];
  const grounds = (style, background, behind) => {
    const color = style.backgroundImage === 'none' ? numbers(style.backgroundColor) : null;
    if (color && alpha(color) <= 0.5) return [background, behind];
    return style.webkitBackgroundClip.includes('text') ? [background, color || PICTURE] : [color, null];
  };

  const body = document.body;
  if (!body) return document;
  for (const details of document.querySelectorAll('details:not([open])')) details.open = true;
  const all = body.getElementsByTagName('*');
  if (all.length > maxElements) {
    const rest = document.createRange();
    rest.setStartAfter(all[maxElements]);
    rest.setEndAfter(body.lastChild);
    rest.deleteContents();
    document.documentElement.setAttribute('data-x-cut', '');
  }
  const [canvasGround] = grounds(getComputedStyle(document.documentElement), [255, 255, 255], null);
  const stack = [[body, canvasGround, 1, null]];
  let visited = 0;
  const marks = [];
  while (stack.length) {
    let [element, background, opacity, behind] = stack.pop();
    const name = nameOf(element);
    if (!SILENT.has(name)) {
      if (++visited > STYLED) {
        if (!isVisible(element, { opacityProperty: true }) && getComputedStyle(element).display !== 'contents') {
          marks.push(element);
          continue;
        }
      } else {
        const style = getComputedStyle(element);
        // Fades in on scrolling, so it is visible.
        if (style.opacity !== '1' && element !== body && !moves(style, 'opacity')) opacity *= style.opacity;
        if (element !== body && hidesAll(element, style, opacity)) {
          marks.push(element);
          continue;
        }
        [background, behind] = grounds(style, background, behind);
        if (hasText(element) && hidesText(element, style, background, behind)) marks.push([element]);
      }
      const root = shadowOf(element);
      if (root) for (let child = root.lastElementChild; child; child = previousElement(child)) stack.push([child, background, opacity, behind]);
    }
    // An SVG without text has nothing to hide, and icons have many elements.
    if (name === 'svg' && !/\S/.test(element.textContent)) continue;
    for (let child = lastElement(element); child; child = previousElement(child)) stack.push([child, background, opacity, behind]);
  }
  // Write after all reads: a write between two reads would force a new layout each time.
  for (const mark of marks) {
    if (Array.isArray(mark)) silence(mark[0]);
    else setAttribute(mark, HIDDEN, '');
  }
  document.documentElement.setAttribute('data-x-hidden-count', marks.length);
  return document;
}
