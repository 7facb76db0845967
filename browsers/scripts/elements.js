// Functions that are called with an element of the page as `this`, each alone, in an isolated world.

/* Return `gone`, `disabled` or `moving`; otherwise `opens a window` for a link that does, else an empty text.

   Two positions are compared, two frames and 50 ms or at most 300 ms apart. This is not done if the element is at `left`
   and `top` of the document, where it did not move before. */
function describeState(left, top) {
  if (!this.isConnected) return 'gone';
  // A fieldset does not disable its links and its legend.
  const control = this.closest('button, input, select, textarea');
  if ((control && control.matches(':disabled')) || this.closest('[aria-disabled=true]')) return 'disabled';
  const a = this.getBoundingClientRect();
  const ready = this.closest('a[target],area[target]') ? 'opens a window' : '';
  if (Math.abs(a.x + scrollX - left) < 1 && Math.abs(a.y + scrollY - top) < 1) return ready;
  return new Promise((done) => {
    let waiting = 2;
    const compare = () => {
      if (--waiting) return;
      const b = this.getBoundingClientRect();
      done(a.x === b.x && a.y === b.y ? ready : 'moving');
    };
    // Timers run in the order in which they are due: those of the page that move it before this one.
    setTimeout(compare, 50);
    requestAnimationFrame(() => requestAnimationFrame(compare));
    // A page that is busy paints late.
    setTimeout(() => { waiting = 1; compare(); }, 300);
  });
}

/* Scroll the element to the middle of the window. */
function scrollToCenter() { this.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'}); }

/* Return the image of an area of an image map; null for other elements. */
function imageOfArea() {
  const map = this.localName === 'area' ? this.closest('map') : null;
  const name = map ? map.name || map.id : '';
  const images = name ? [...this.getRootNode().querySelectorAll('img[usemap]')] : [];
  return images.find((one) => one.useMap.split('#')[1] === name && one.getClientRects().length) || null;
}

/* Return a point of an area and the rectangle around it, in CSS pixels from the corner of its image.

   The point is the one of 15 by 15 that is next to the center and not covered, because the shape may be any polygon. */
function placeInImage(image) {
  const [box, style] = [image.getBoundingClientRect(), getComputedStyle(image)];
  const [dx, dy] = [image.clientLeft + parseFloat(style.paddingLeft), image.clientTop + parseFloat(style.paddingTop)];
  const numbers = (this.getAttribute('coords') || '').split(/[\s,;]+/).map(parseFloat).filter((one) => !isNaN(one));
  const shape = (this.getAttribute('shape') || 'rect').toLowerCase();
  let [xs, ys] = [numbers.filter((_, at) => at % 2 === 0), numbers.filter((_, at) => at % 2)];
  if (shape.startsWith('circ')) {
    const [x, y, radius] = numbers;
    [xs, ys] = [[x - radius, x + radius], [y - radius, y + radius]];
  }
  if (shape === 'default' || !ys.length) [xs, ys] = [[0, image.width], [0, image.height]];
  const [left, right] = [Math.max(0, Math.min(...xs)), Math.min(image.width, Math.max(...xs))];
  const [top, bottom] = [Math.max(0, Math.min(...ys)), Math.min(image.height, Math.max(...ys))];
  const points = [];
  for (let row = 1; row < 16; row++)
    for (let column = 1; column < 16; column++)
      points.push([dx + left + (right - left) * column / 16, dy + top + (bottom - top) * row / 16, row, column]);
  const distance = ([,, row, column]) => Math.hypot(row - 8, column - 8);
  points.sort((one, other) => distance(one) - distance(other));
  const root = this.getRootNode();
  const [x, y] = points.find(([x, y]) => root.elementFromPoint(box.x + x, box.y + y) === this) || points[0];
  return {x, y, rect: {x: dx + left, y: dy + top, width: right - left, height: bottom - top}};
}

/* Click the label of an input by script, or the input itself; return False for other elements. */
function clickByScript() {
  if (this.localName !== 'input') return false;
  ((this.labels && this.labels[0]) || this).click();
  return true;
}

/* Return tag, id and up to 200 characters of text of the node `hit` that covers the element.

   Return an empty text if one of both contains the other, or if `hit` is in the label of the element. */
function describeCover(hit) {
  for (let node = hit; node; node = node.parentNode || node.host) if (node === this) return '';
  for (let node = this; node; node = node.parentNode || node.host) if (node === hit) return '';
  const element = hit.nodeType === 1 ? hit : hit.parentElement;
  if (!element) return 'something';
  const label = element.closest('label');
  if (label && label.control === this) return '';
  return element.localName + (element.id ? '#' + element.id : '') + ' ' + (element.textContent || '').slice(0, 200);
}

/* Focus a field and select its text; set the value of date, color and range inputs directly.

   Return the reason why the field takes no text, `set` if the value was set, or an empty text. */
function focusField(text) {
  if (!this.isConnected) return 'gone';
  const kind = (this.type || '').toLowerCase();
  if (this.matches(':disabled')) return 'disabled';
  if (this.readOnly) return 'read-only';
  if (this.localName === 'input') {
    if (['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'file'].includes(kind)) return 'not a text field';
    if (['date', 'time', 'month', 'week', 'datetime-local', 'color', 'range'].includes(kind)) {
      this.focus();
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(this, text);
      this.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
      this.dispatchEvent(new Event('change', {bubbles: true}));
      if (this.value === text || kind === 'range' || kind === 'color') return 'set';
      return 'of type ' + kind + ', which takes no such value';
    }
  } else if (this.localName !== 'textarea' && !this.isContentEditable) {
    return 'not a text field';
  }
  this.scrollIntoView({block: 'nearest', behavior: 'instant'});
  if (this.isContentEditable) {
    let editor = this;
    while (editor.parentElement && editor.parentElement.isContentEditable) editor = editor.parentElement;
    editor.focus();
    getSelection().selectAllChildren(this);
    return '';
  }
  const focused = () => this.getRootNode().activeElement;
  const before = focused();
  this.focus();
  const field = focused();
  // A page may open another field instead. Otherwise the text would replace that of the field with the focus.
  if (field !== this && (field === before || !field || !field.select)) return 'not to be focused';
  field.select();
  return '';
}

/* Select options of a list by text or value.

   Return the reason of a failure, an object with the available options if one is unknown, or an empty text. */
function selectOptions(...wanted) {
  if (!this.isConnected) return 'is gone';
  if (this.localName !== 'select') return 'is not a native list of options: click it, then the option';
  if (this.matches(':disabled')) return 'is disabled';
  const norm = (text) => text.replace(/\s+/g, ' ').replace(/"/g, "'").trim();
  const names = [...this.options].map((one) => norm(one.label || one.text));
  const chosen = wanted.map((one) => {
    const all = [...this.options];
    let at = names.indexOf(norm(one));
    if (at < 0) at = names.findIndex((name) => name.toLowerCase() === norm(one).toLowerCase());
    if (at < 0) at = all.findIndex((option) => option.value === one);
    return all[at];
  });
  if (chosen.includes(undefined)) return {options: names.slice(0, 30), count: names.length};
  if (chosen.length > 1 && !this.multiple) return 'takes one option';
  if (chosen.some((one) => one.disabled)) return 'has this option disabled';
  this.focus();
  for (const one of this.options) one.selected = chosen.includes(one);
  this.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
  this.dispatchEvent(new Event('change', {bubbles: true}));
  return '';
}

/* Hide the element without a change of the document; `SHOW_AGAIN` shows it. */
function hideFromPicture() {
  (globalThis.masks ||= []).push(this.animate([{clipPath: 'inset(50%)'}, {clipPath: 'inset(50%)'}], {duration: 60000}));
}

function showAgain() { for (const mask of (globalThis.masks || []).splice(0)) mask.cancel(); }
