// Marks what a person would not see, cuts what is beyond every bound, and returns the document.
(maxElements) => {
  const HIDDEN = 'data-x-hidden';
  // Beyond this many elements only `checkVisibility` is asked: computed styles cost microseconds each.
  const STYLED = 20000;
  const MIN_FONT_PX = 4;
  const MIN_ALPHA = 0.1;
  const MIN_CONTRAST = 1.1;
  const MIN_OPACITY = 0.05;
  const MIN_BOX_PX = 2;
  const SILENT = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'LINK', 'META', 'BR', 'HEAD', 'TITLE']);

  // Their text is drawn by the control: a range around it has no box.
  const DRAWN = new Set(['OPTION', 'OPTGROUP', 'TEXTAREA']);

  // Pages have few colours and many elements: taking one apart costs more than all styles of an element.
  const parsed = new Map();
  const numbers = (color) => {
    let found = parsed.get(color);
    if (!found) {
      found = (color.match(/[\d.]+/g) || [0, 0, 0]).map(Number);
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
  const moves = (style) => style.transitionDuration !== '0s' || style.animationName !== 'none';
  const isText = (node) => node.nodeType === 3 && /\S/.test(node.data);
  const hasText = (element) => {
    for (let node = element.firstChild; node; node = node.nextSibling) {
      if (isText(node)) return true;
    }
    return false;
  };
  const silence = (element) => {
    for (let node = element.firstChild; node; node = node.nextSibling) {
      if (node.nodeType === 3) node.data = '';
    }
  };
  // Clips and masks that leave nothing: a circle without radius, an inset of half the box or more, no gradient.
  const NOTHING_LEFT = /^(?:(?:circle|ellipse)\(0(?:px|%)?\b(?!\.)|inset\((?:[5-9]\d|\d{3,})(?:\.\d+)?%(?:\)| round)|polygon\((?:0(?:px|%)? 0(?:px|%)?(?:, )?)+\))/;
  const NO_OPACITY = /opacity\((?:0|0?\.0\d*)\)/;
  const NO_MASK = /^linear-gradient\((?:to [a-z ]+, |[\d.]+deg, )?rgba\(0, 0, 0, 0\)(?: [\d.]+%)?, rgba\(0, 0, 0, 0\)(?: [\d.]+%)?\)$/;
  // The whole subtree is out of sight.
  const hidesAll = (element, style) => {
    if (style.display === 'none' || style.contentVisibility === 'hidden') return true;
    // Faded in when scrolled to: a person does see it.
    if (Number(style.opacity) < MIN_OPACITY && !moves(style)) return true;
    if (style.clipPath !== 'none' && NOTHING_LEFT.test(style.clipPath)) return true;
    if (style.filter !== 'none' && NO_OPACITY.test(style.filter) && !moves(style)) return true;
    if (style.maskImage !== 'none' && NO_MASK.test(style.maskImage)) return true;
    if (style.position !== 'static' && style.clip === 'rect(0px, 0px, 0px, 0px)') return true;
    if (style.overflowX !== 'visible' || style.overflowY !== 'visible') {
      const box = element.getBoundingClientRect();
      if ((box.width < MIN_BOX_PX || box.height < MIN_BOX_PX) && style.display !== 'contents') {
        return element !== document.body && element !== document.documentElement;
      }
    }
    return false;
  };
  const range = document.createRange();
  const isSeen = (node) => {
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    return box.right + scrollX >= 0 && box.bottom + scrollY >= 0 && box.width >= 1 && box.height >= 1;
  };
  // The element's own text is out of sight.
  const hidesText = (element, style, background) => {
    if (style.visibility !== 'visible') return true;
    if (parseFloat(style.fontSize) < MIN_FONT_PX) return true;
    const color = numbers(style.color);
    const isPale = alpha(color) < MIN_ALPHA || (background && contrast(color, background) < MIN_CONTRAST);
    if (isPale && style.webkitBackgroundClip !== 'text') return true;
    if (DRAWN.has(element.nodeName)) return false;
    // Where a piece of it is seen all is, and the box of a piece costs less than that of all that is inside.
    for (let node = element.firstChild; node; node = node.nextSibling) {
      if (isText(node) && isSeen(node)) return false;
    }
    return !isSeen(element);
  };
  const backgroundUnder = (style, inherited) => {
    if (style.backgroundImage !== 'none') return null; // a picture: no colour to compare with
    const color = numbers(style.backgroundColor);
    return alpha(color) > 0.5 ? color : inherited;
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
  const bodyBackground = backgroundUnder(getComputedStyle(body), backgroundUnder(getComputedStyle(document.documentElement), [255, 255, 255]));
  const stack = [[body, bodyBackground]];
  let visited = 0;
  const marks = [];
  while (stack.length) {
    const [element, inherited] = stack.pop();
    let background = inherited;
    if (!SILENT.has(element.nodeName)) {
      if (++visited > STYLED) {
        if (!element.checkVisibility({ opacityProperty: true }) && getComputedStyle(element).display !== 'contents') {
          marks.push(element);
          continue;
        }
      } else {
        const style = getComputedStyle(element);
        if (element !== body && hidesAll(element, style)) {
          marks.push(element);
          continue;
        }
        background = backgroundUnder(style, inherited);
        if (hasText(element) && hidesText(element, style, background)) marks.push([element]);
      }
      const root = element.shadowRoot;
      if (root) for (let child = root.lastElementChild; child; child = child.previousElementSibling) stack.push([child, background]);
    }
    // A drawing without words has nothing to hide, and icons have many parts.
    if (element.nodeName === 'svg' && !/\S/.test(element.textContent)) continue;
    for (let child = element.lastElementChild; child; child = child.previousElementSibling) stack.push([child, background]);
  }
  // Written after all was read: a write between two reads would lay the page out again each time.
  for (const mark of marks) {
    if (Array.isArray(mark)) silence(mark[0]);
    else mark.setAttribute(HIDDEN, '');
  }
  document.documentElement.setAttribute('data-x-hidden-count', marks.length);
  return document;
}
