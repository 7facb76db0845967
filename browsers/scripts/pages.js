// Functions that are called alone, in an isolated world of a page.

const inside = (one) => one.shadowRoot ? below(one.shadowRoot) : [];
const below = (root) => [...root.querySelectorAll('*')].flatMap((one) => [one, ...inside(one)]);
const isScroller = (one) => one.scrollHeight > one.clientHeight && /auto|scroll/.test(getComputedStyle(one).overflowY);

/* Scroll through the page once, so that lazy images load and faded parts appear, then return to its top and wait for
   images and transitions. */
function reveal() {
  return new Promise(async (done) => {
    const end = performance.now() + 4000;
    const frames = () => new Promise((next) => {
      setTimeout(next, 100);
      requestAnimationFrame(() => setTimeout(next, 15));
    });
    const height = () => document.documentElement.scrollHeight;
    for (let y = 0; y < height() && y < 30000 && performance.now() < end; y += innerHeight * 0.9) {
      scrollTo({top: y, behavior: 'instant'});
      await frames();
    }
    scrollTo({top: 0, behavior: 'instant'});
    await frames();
    const open = [...document.images].filter((image) => !image.complete);
    const decoded = Promise.all(open.map((image) => image.decode().catch(() => 0)));
    await Promise.race([decoded, new Promise((next) => setTimeout(next, 2000))]);
    const moving = document.getAnimations().filter((one) => one.effect?.getComputedTiming().endTime !== Infinity);
    const still = Promise.all(moving.map((one) => one.finished.catch(() => 0)));
    await Promise.race([still, new Promise((next) => setTimeout(next, 1000))]);
    await frames();
    done(1);
  });
}

/* Return the height and the scroll position of the page, and the height of the window that would show all of an element
   that scrolls instead of the page. */
function measurePage() {
  const page = document.documentElement;
  let inner = 0;
  if (page.scrollHeight <= innerHeight + 50 || getComputedStyle(page).overflowY === 'hidden') {
    for (const element of document.querySelectorAll('body, body *')) {
      const isLarge = element.clientWidth * element.clientHeight >= innerWidth * innerHeight / 2;
      if (!isLarge || element.scrollHeight < element.clientHeight + 100) continue;
      if (!/auto|scroll/.test(getComputedStyle(element).overflowY)) continue;
      inner = Math.max(inner, element.scrollHeight + innerHeight - element.clientHeight);
    }
  }
  return {height: Math.max(page.scrollHeight, innerHeight), inner, top: scrollY, left: scrollX};
}

/* Wait for two frames; a page that does not change may paint none. */
function waitForFrames() {
  return new Promise((done) => {
    setTimeout(() => done(1), 300);
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(1), 30)));
  });
}

/* Find an element and, if it `scrolls`, scroll to it: the one that the target selects as a CSS selector, else the visible
   one with the shortest text that contains it. */
function findPlace(target, scrolls) {
  let found = null;
  try { found = document.querySelector(target); } catch {}
  if (!found) {
    const text = target.trim().toLowerCase();
    let best = Infinity;
    for (const element of document.querySelectorAll('body *')) {
      const box = element.getBoundingClientRect();
      const own = (element.innerText || element.alt || element.getAttribute('aria-label') || '').trim().toLowerCase();
      if (box.width && box.height && own.includes(text) && own.length < best) { found = element; best = own.length; }
    }
  }
  if (!found) return null;
  if (scrolls) found.scrollIntoView({block: 'center', behavior: 'instant'});
  const box = found.getBoundingClientRect();
  return {x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height};
}

/* Scroll the page to its end, or a large element that scrolls instead of the page; return the height. */
function scrollToEnd() {
  let page = document.scrollingElement || document.documentElement;
  if (page && page.scrollHeight <= innerHeight + 50) {
    const isLarge = (one) => one.clientWidth * one.clientHeight >= innerWidth * innerHeight / 2;
    page = (document.body ? below(document.body) : []).find((one) => isLarge(one) && isScroller(one)) || page;
  }
  page?.scrollTo({top: page.scrollHeight, behavior: 'instant'});
  return page ? page.scrollHeight : 0;
}

/* Scroll up to five boxes that scroll by themselves: to the `end`, the `start` or the `next` part, of which the rows are
   kept. `start` puts the kept rows into lists that have only a part of them. Return whether a box moved; for `start`,
   whether the text of one changed since `end`. */
function scrollBoxes(where) {
  const isBox = (one) => one.clientHeight > 100 && one.clientWidth > 100 && one.scrollHeight > one.clientHeight + 100;
  const boxes = globalThis[Symbol.for('boxes')] ||= (document.body ? below(document.body) : [])
    .filter((one) => isBox(one) && isScroller(one)).slice(0, 5).map((box) => ({box, rows: new Map()}));
  let isChanged = false;
  for (const one of boxes) {
    const {box, rows} = one;
    one.list = box;
    for (const inner of box.querySelectorAll('*')) if (inner.childElementCount > one.list.childElementCount) one.list = inner;
    const top = box.getBoundingClientRect().top - box.scrollTop;
    if (where === 'next') {
      for (const row of one.list.children) {
        const place = Math.round(row.getBoundingClientRect().top - top);
        if (rows.size < 3000) rows.set(place + row.textContent, [place, row.cloneNode(true), row]);
      }
    }
    const before = box.scrollTop;
    if (where === 'end') one.text = box.textContent;
    isChanged ||= where === 'start' && box.textContent !== one.text;
    box.scrollTop = where === 'start' ? 0 : where === 'end' ? box.scrollHeight : before + box.clientHeight * .8;
    isChanged ||= where !== 'start' && box.scrollTop !== before;
  }
  const write = () => {
    for (const {list, rows} of where === 'start' ? boxes : []) {
      if ([...rows.values()].every(([, , row]) => row.isConnected)) continue;
      const kept = [...rows.values()].sort(([one], [other]) => one - other).map(([, copy]) => copy);
      list.replaceChildren(...kept.filter((row, at) => !at || row.textContent !== kept[at - 1].textContent));
    }
    return isChanged;
  };
  // After the page has painted its rows for the last time.
  const painted = new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return boxes.length ? painted.then(write) : false;
}
