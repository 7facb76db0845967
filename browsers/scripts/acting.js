// Changes functions of a page on which steps act. Runs in the world of the page.

// In the full browser, the dialog of print() stops the scripts of the page.
window.print = new Proxy(window.print, {apply() {}});
// A pointer lock gives all later clicks to one element.
Element.prototype.requestPointerLock = new Proxy(Element.prototype.requestPointerLock, {
  apply: () => Promise.reject(new DOMException('The user rejected the request.', 'NotAllowedError')),
});
// Each opens a list of the browser, which takes the next click or all later ones.
for (const [owner, name, error] of [['MediaDevices', 'getDisplayMedia', 'NotAllowedError'],
  ['USB', 'requestDevice', 'NotFoundError'], ['HID', 'requestDevice', 'NotFoundError'], ['Serial', 'requestPort', 'NotFoundError']]) {
  const {prototype} = window[owner] || {};
  // Pages without TLS do not have them.
  if (prototype) prototype[name] = new Proxy(prototype[name], {apply: () => Promise.reject(new DOMException('Nothing was selected.', error))});
}
// The question whether a program may open a link, such as `tel:`, takes all later clicks.
window.navigation?.addEventListener('navigate', (event) => {
  if (!/^(?:https?|about|blob|data|file|javascript):/.test(event.destination.url)) event.preventDefault();
});
// In an attribute such as onclick, open(url) means document.open, which would empty the page.
Document.prototype.open = new Proxy(Document.prototype.open, {
  apply(open, page, given) {
    const isUrl = given.length === 1 && typeof given[0] === 'string' && !/^text\/|^$/.test(given[0]) && page.readyState === 'complete';
    return isUrl || given.length > 2 ? window.open(...given) : Reflect.apply(open, page, given);
  },
});
// A window to which its page may talk becomes a frame above the page, because the session shows one tab.
{
  const mark = 'search-mcp-window:';
  window.open = new Proxy(window.open, {
    apply(open, self, given) {
      const [url = '', name = '', features = ''] = given.map((one) => String(one ?? ''));
      const isEmpty = /^(?:about:blank)?$/.test(url);
      const isTalking = !/noopener|noreferrer/.test(features) && (isEmpty || features || !/^(?:_\w+)?$/.test(name));
      const parsed = isEmpty ? location : URL.parse(url, document.baseURI);
      if (!isTalking || parsed?.origin !== location.origin) return Reflect.apply(open, self, given);
      let frame = document.getElementsByName(mark + name)[0];
      if (!frame || /^(?:_blank)?$/.test(name)) {
        frame = document.createElement('iframe');
        frame.name = mark + name;
        frame.title = 'Window of the page';
        frame.style = 'all:revert!important;position:fixed!important;inset:0;width:100%;height:100%;border:0;background:#fff;z-index:2147483647';
        (document.body || document.documentElement).append(frame);
        // The page may refuse frames.
        frame.addEventListener('load', () => {
          if (frame.contentDocument) return;
          frame.remove();
          open.call(window, url, name);
        });
      }
      if (!isEmpty) frame.contentWindow.location = parsed.href;
      return frame.contentWindow;
    },
  });
  if (window.name.startsWith(mark)) {
    Object.defineProperty(window, 'opener', {get: () => parent, configurable: true});
    window.close = () => window.frameElement?.remove();
  }
}
