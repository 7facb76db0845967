// Functions that are called with an element of the page as `this`, each alone, in an isolated world.

// Pages cannot change properties here, but the fields of a form shadow those of the form by their names.
const plain = (node) => node && new Proxy(node, {get: (_, name) => {
  const value = Reflect.get(Object.getPrototypeOf(node), name, node);
  return typeof value === 'function' ? value.bind(node) : value;
}});

/* Return `gone`, `disabled` or `moving`; otherwise `opens a window` for a link that does, else an empty text.

   Two positions are compared, two frames and 50 ms or at most 300 ms apart. This is not done if the element is at `left`
   and `top` of the document, where it did not move before. */
function describeState(left, top) {
  if (!this.isConnected) return 'gone';
  // A fieldset does not disable its links and its legend.
  const control = this.closest('button, input, select, textarea');
  if ((control && control.matches(':disabled')) || this.closest('[aria-disabled=true], [inert]')) {
    return 'disabled';
  }
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
    // Not by timers, which would count as those of the page.
    scheduler.postTask(compare, {delay: 50});
    requestAnimationFrame(() => requestAnimationFrame(compare));
    // A page that is busy paints late.
    scheduler.postTask(() => { waiting = 1; compare(); }, {delay: 300});
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

/* Return tag, id and up to 200 characters of text of what covers the element at a point, `dx` and `dy` from its first corner;
   an empty text if a click there does what a click on the element does. `hit` is the node there: without an element
   around it, it is a pseudo-element. */
function describeCover(hit, dx, dy) {
  const up = (node) => plain(node).assignedSlot || plain(node).parentNode || node.host;
  const isIn = (node, outer) => { for (; node; node = up(node)) if (node === outer) return true; return false; };
  const controls = 'a[href],button,input,select,textarea,summary,label,[role=button],[role=link],[onclick],[tabindex]';
  const box = this.getClientRects()[0] || this.getBoundingClientRect();
  let element = hit.nodeType === 1 ? hit : hit.parentElement;
  const isPseudo = !element;
  element ||= this.getRootNode().elementFromPoint(box.x + dx, box.y + dy);
  if (!element || isIn(element, this)) return '';
  // The slots of a closed shadow root are known only inside it.
  const slots = this.querySelectorAll ? [...this.querySelectorAll('slot')] : [];
  if (slots.some((slot) => slot.assignedNodes({flatten: true}).some((one) => one.contains(element)))) return '';
  // The point is beside the drawing of the element, or the element lets clicks pass. Not below a veil of a box around it.
  if (isIn(this, element) && !(isPseudo && !element.matches(controls))) return '';
  const label = element.closest('label');
  if ((label && label.control === this) || (this.localName === 'label' && this.control === element)) return '';
  const parent = this.parentElement || this.getRootNode().host;
  if (parent && parent !== document.body && isIn(element, parent)) {
    const around = parent.getBoundingClientRect();
    const fits = around.width <= box.width + 24 && around.height <= box.height + 24;
    // A listener alone may pass clicks on, as that of a larger area around a small button.
    const isDrawing = !element.matches(controls.replace('[onclick],', '')) && !element.textContent.trim();
    if ((isDrawing && fits) || getComputedStyle(this).opacity < .05) return '';
  }
  const link = element.closest(controls);
  if (link && !this.closest(controls) && !this.querySelector(controls)) {
    // The link of a card lies over all its texts.
    let card = link.parentElement;
    for (let level = 0; card && level < 3 && !isIn(this, card); level++) card = card.parentElement;
    const size = card && isIn(this, card) ? card.getBoundingClientRect() : null;
    if (size && size.width * size.height < innerWidth * innerHeight / 2) return '';
  }
  const name = element.localName + (isPseudo ? '::after' : '') + (element.id ? '#' + element.id : '');
  return name + ' ' + (element.textContent || '').slice(0, 200);
}

/* Focus a field and select its text; set the value of date, color and range inputs directly.

   Return the reason why the field takes no text, `set` if the value was set, `keys` if it only takes keys, or an object
   with the text to insert. */
function focusField(text) {
  if (!this.isConnected) return 'gone';
  const kind = (this.type || '').toLowerCase();
  if (kind === 'number' && text) {
    // A number field drops the characters that it does not take, and would keep another number.
    const marks = text.match(/[.,]/g) || [];
    const last = marks[marks.length - 1];
    const isSingle = marks.filter((one) => one === last).length === 1;
    if (/^\s*[-+]?\d{1,3},\d{3}\s*$/.test(text)) return 'a number field: with a comma, this may be two numbers; write a point or none';
    text = text.replace(/[\s\u00a0\u202f'’]/g, '').replace(/[.,]/g, (one, at, all) =>
      isSingle && at === all.lastIndexOf(last) ? '.' : '');
    if (isNaN(Number(text)) || !text) return 'a number field, which takes no such text';
  }
  if (this.matches(':disabled')) return 'disabled';
  if (this.readOnly) return 'read-only';
  if (this.localName === 'input') {
    if (['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'file'].includes(kind)) return 'not a text field';
    if (['date', 'time', 'month', 'week', 'datetime-local', 'color', 'range'].includes(kind)) {
      this.focus();
      const before = this.value;
      const set = (value) => Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(this, value);
      set(text);
      if (text && !this.value) {
        set(before);
        const forms = {date: '2026-12-31', time: '18:30', month: '2026-12', week: '2026-W53'};
        return `of type ${kind}: write it as ${forms[kind] || '2026-12-31T18:30'}`;
      }
      this.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
      this.dispatchEvent(new Event('change', {bubbles: true}));
      return 'set';
    }
  } else if (this.localName !== 'textarea' && !this.isContentEditable) {
    // An element that reads keys: an editor of its own, a terminal, a spin button.
    const takesKeys = this.tabIndex >= 0 && !this.closest('a, button, select, summary');
    if (takesKeys) this.focus();
    return takesKeys ? 'keys' : 'not a text field';
  }
  this.scrollIntoView({block: 'nearest', behavior: 'instant'});
  if (this.isContentEditable) {
    let editor = this;
    while (editor.parentElement && editor.parentElement.isContentEditable) editor = editor.parentElement;
    editor.focus();
    getSelection().selectAllChildren(this);
    return {text};
  }
  const focused = () => this.getRootNode().activeElement;
  const before = focused();
  this.focus();
  const field = focused();
  // A page may open another field instead. Otherwise the text would replace that of the field with the focus.
  if (field !== this && (field === before || !field || !field.select)) return 'not to be focused';
  field.select();
  return {text};
}

/* Return what a field made of a text: an empty text if it holds it, or an object with its `value`, with `retype` if
   keys may do better, and with `boxes` if each box of a row takes a part. Null if the field is no longer there. */
function readField(text) {
  return scheduler.postTask(() => 0, {delay: 30}).then(() => {
    if (!this.isConnected) return null;
    const norm = (one) => one.replace(/\s+/g, ' ').trim();
    const bare = (one) => one.normalize('NFKC').replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();
    const read = (one) => one.isContentEditable ? one.innerText : one.value || '';
    const value = read(this);
    if (norm(value) === norm(text)) return '';
    const isNumber = this.type === 'number';
    if (isNumber ? Number(value) === Number(text) && value : bare(text) && bare(value) === bare(text)) return '';
    let around = plain(this.form || this.parentElement);
    while (around && !this.form && around.querySelectorAll('input').length < 2) around = plain(around.parentElement);
    const isBox = (one) => one.type === this.type && one.className === this.className && one.maxLength === this.maxLength;
    const row = around && this.localName === 'input' ? [...around.querySelectorAll('input')].filter(isBox) : [];
    const rest = row.slice(row.indexOf(this));
    if (rest.length > 1 && bare(rest.map(read).join('')) === bare(text)) return '';
    const takesOne = this.maxLength > 0 && this.maxLength < 5 && text.length > this.maxLength;
    const isCut = this.maxLength > 0 && !takesOne && value === text.slice(0, this.maxLength);
    const isCompleted = value.toLowerCase().startsWith(text.toLowerCase());
    return {value, retype: !isCut && !isCompleted && !isNumber, boxes: rest.length > 1 && takesOne};
  });
}

/* Focus the next box of a row if this field, which has the focus, is full. */
function advanceBox() {
  const box = this.getRootNode().activeElement;
  if (!box || !(box.maxLength > 0) || box.value.length < box.maxLength) return;
  const all = [...plain(box.form || box.getRootNode()).querySelectorAll('input')];
  const next = all.slice(all.indexOf(box) + 1).find((one) => one.type === box.type && one.maxLength === box.maxLength);
  if (next) next.focus();
}

/* Return label, message and value of up to three fields because of which the browser does not send the form of a
   control, or of the field that a script has reported. With `enters`, the control is a field in which Enter is pressed. */
function invalidFields(enters) {
  const control = (this.closest && this.closest('button, input')) || this;
  const kind = (control.type || '').toLowerCase();
  const form = plain(control.form || (this.closest && this.closest('form')));
  const submits = enters || ['submit', 'image'].includes(kind);
  let invalid = [];
  if (submits && form && !form.noValidate && !(control.formNoValidate && !enters)) {
    invalid = [...form.elements].filter((one) => one.willValidate && !one.validity.valid);
  } else if (!submits) {
    const active = this.getRootNode().activeElement;
    if (active && active !== this && active.willValidate && !active.validity.valid) invalid = [active];
  }
  const fields = invalid.slice(0, 3).map((one) => {
    const label = (one.labels && one.labels[0] && one.labels[0].innerText) || one.getAttribute('aria-label');
    const isSecret = /password|checkbox|radio/.test(one.type) || /cc-|code|password/.test(one.autocomplete);
    const hint = one.validity.patternMismatch && one.title ? ' ' + one.title : '';
    return [label || one.placeholder || one.name || one.localName, one.validationMessage + hint, isSecret ? '' : one.value || ''];
  });
  return {submits, fields, posts: Boolean(submits && form && (control.formMethod || form.method) === 'post')};
}

/* Select options of a list by text or value.

   Return the reason of a failure, an object with the available options if one is unknown, or an empty text. */
function selectOptions(...wanted) {
  if (!this.isConnected) return 'is gone';
  const list = this.list || this;
  if (!list.options) return 'custom';
  if (this.matches(':disabled')) return 'is disabled';
  const norm = (text) => text.replace(/\s+/g, ' ').replace(/"/g, "'").trim();
  const all = [...list.options];
  const names = all.map((one) => norm(one.label || one.text));
  const chosen = wanted.map((one) => {
    let at = names.indexOf(norm(one));
    if (at < 0) at = names.findIndex((name) => name.toLowerCase() === norm(one).toLowerCase());
    if (at < 0) at = all.findIndex((option) => option.value === one);
    return all[at];
  });
  if (chosen.includes(undefined)) return {options: names.slice(0, 30), count: names.length};
  if (chosen.length > 1 && !this.multiple) return 'takes one option';
  if (chosen.some((one) => one.disabled || one.closest('optgroup:disabled'))) return 'has this option disabled';
  this.focus();
  if (list !== this) Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(this, chosen[0].value);
  else for (const one of all) one.selected = chosen.includes(one);
  this.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
  this.dispatchEvent(new Event('change', {bubbles: true}));
  return '';
}

/* Give a file to a file field: the element, the one of its label, or the only one inside. Return the reason why not. */
function giveFile(name, type, base64) {
  const inside = this.querySelectorAll('input[type=file]');
  const field = this.type === 'file' ? this : this.control || (inside.length === 1 ? inside[0] : null);
  const given = new DataTransfer();
  given.items.add(new File([Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))], name, {type}));
  if (!field || field.type !== 'file') {
    // A box takes a file that is dropped there if it says so while the file is over it.
    const drag = (kind) => this.dispatchEvent(
      new DragEvent(kind, {bubbles: true, cancelable: true, composed: true, dataTransfer: given}));
    drag('dragenter');
    if (drag('dragover')) return 'none';
    drag('drop');
    return '';
  }
  if (field.disabled) return 'is disabled';
  field.files = given.files;
  for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {bubbles: true, composed: true}));
  return '';
}

/* Hide the element without a change of the document; `showAgain` shows it. */
function hideFromPicture() {
  // Not by a name: an element with this id would stand in its place.
  const masks = globalThis[Symbol.for('masks')] ||= [];
  masks.push(this.animate([{clipPath: 'inset(50%)'}, {clipPath: 'inset(50%)'}], {duration: 60000}));
}

function showAgain() { for (const mask of (globalThis[Symbol.for('masks')] || []).splice(0)) mask.cancel(); }
