// Observes a page until it is ready. Runs in an isolated world, so the page cannot see it.
(() => {
  // An element of the page with this id is no probe.
  if (typeof globalThis.__readinessProbe?.sample === 'function') return;
  // A mutation of less text is a clock, a counter or a carousel. It never delays a page.
  const CONTENT_CHARS = 24;
  // Nodes. As many new and removed at once are the rows of a list that paints only a part of them.
  const MIN_ROWS = 5;
  // Layout reads (spinner, height) are repeated only after a mutation, or after this long.
  const STALE_MS = 400;
  // A page that loads for less than this is not measured: that would lay out an incomplete page.
  const MIN_AGE_MS = 1000;
  // Idle time before pages are compared, and limits of the comparison.
  const IDLE_MS = 40;
  const MAX_SCRIPTS = 100;
  const MAX_LEVELS = 4;
  const MAX_ELEMENTS = 300;
  const SPINNERS =
    '[aria-busy=true],[role=progressbar],[class*=spinner i],[class*=skeleton i],' +
    '[class*=loading i]:not(body):not(html):not(img),[class*=loader i],' +
    '[class*=placeholder-glow i],[class*=shimmer i]';
  const state = { changedAt: performance.now(), content: 0, mutations: 0, swaps: 0, last: null, lastAt: 0, lastMutations: -1 };

  const countChars = (nodes) => {
    let sum = 0;
    for (const node of nodes) {
      if (node.nodeType === 1) sum += (node.textContent || '').length;
      else if (node.nodeType === 3) sum += node.length;
    }
    return sum;
  };
  const onMutations = (records) => {
    state.mutations++;
    // The parser adds nodes, however small.
    if (document.readyState === 'loading') state.changedAt = performance.now();
    const fresh = new Set();
    let [added, removed] = [0, 0];
    for (const record of records) {
      if (record.type !== 'childList') continue;
      added += record.addedNodes.length;
      removed += record.removedNodes.length;
      for (const node of record.addedNodes) fresh.add(node);
      // Already counted with it: nested elements would be counted once for every level.
      if (fresh.has(record.target)) continue;
      const chars = countChars(record.addedNodes);
      const changed =
        record.addedNodes.length && record.removedNodes.length
          ? Math.abs(chars - countChars(record.removedNodes))
          : chars;
      if (changed > CONTENT_CHARS) {
        state.changedAt = performance.now();
        state.content++;
      }
    }
    if (Math.min(added, removed) >= MIN_ROWS) state.swaps++;
  };
  new MutationObserver(onMutations).observe(document, { childList: true, subtree: true, characterData: true });

  const visible = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const MAX_LOADING = 60;
  const hasSpinner = (body) => {
    const text = body.textContent.length < 5000 && textLength(body) < MAX_LOADING ? (body.innerText || '').trim() : '';
    // A page with a text such as "Loading…" only.
    if (/[^.](?:…|\.\.\.)$/.test(text)) return 1;
    for (const element of body.querySelectorAll(SPINNERS)) {
      if (element.textContent.length < 200 && visible(element)) return 1;
    }
    return 0;
  };
  const textLength = (body) => {
    let sum = body.textContent.length;
    for (const silent of body.querySelectorAll('script,style,noscript,template')) sum -= silent.textContent.length;
    return sum;
  };
  const hash = (text) => {
    let value = 5381;
    for (let i = 0; i < text.length; i++) value = (value * 33 + text.charCodeAt(i)) | 0;
    return `${text.length}.${value}`;
  };
  // Returns the kinds of elements in the upper levels of the page.
  const structure = () => {
    const kinds = new Set();
    let level = [document.body];
    for (let depth = 0; depth < MAX_LEVELS; depth++) {
      level = level.flatMap((element) => [...element.children]).slice(0, MAX_ELEMENTS);
      for (const element of level) kinds.add(`${depth}${element.localName}.${element.getAttribute('class')}`);
    }
    return [...kinds].sort();
  };
  // Equal for two pages with the same code and structure: one program in one state.
  const codeHash = () => {
    const code = [...document.scripts].filter((script) => !script.type.endsWith('json'));
    if (code.length > MAX_SCRIPTS || !document.body) return '';
    const programs = code.map((script) => script.getAttribute('src') || hash(script.textContent));
    return hash([...programs, ...structure()].join(' '));
  };
  globalThis.__readinessProbe = {
    // Returns how many timers were set in this document: they are numbered.
    timers() {
      const id = setTimeout(() => 0);
      clearTimeout(id);
      return id;
    },
    sample(selector, withHash) {
      const now = performance.now();
      const quiet = Math.round(now - state.changedAt);
      const matches = !selector || document.querySelector(selector) ? 1 : 0;
      if (document.readyState === 'loading' && now < MIN_AGE_MS) {
        return ['loading', quiet, state.content, 0, 0, 0, 0, matches, 1, '', state.swaps];
      }
      const fresh =
        state.last && state.lastMutations === state.mutations && state.last[0] === document.readyState &&
        now - state.lastAt < STALE_MS && state.last[6] === innerHeight;
      if (fresh) {
        state.last[1] = quiet;
        state.last[7] = matches;
        state.last[10] = state.swaps;
      } else {
        const body = document.body;
        const root = document.documentElement;
        state.lastMutations = state.mutations;
        state.lastAt = now;
        state.last = [
          document.readyState, quiet, state.content, body ? textLength(body) : 0, body ? hasSpinner(body) : 0,
          root ? root.scrollHeight : 0, innerHeight, matches, document.scripts.length ? 1 : 0, '', state.swaps,
        ];
      }
      if (withHash && quiet >= IDLE_MS && !state.last[9]) state.last[9] = codeHash();
      return state.last;
    },
  };
})();
