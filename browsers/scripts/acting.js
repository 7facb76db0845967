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
    const isUrl = given.length === 1 && typeof given[0] === 'string' && !/^text\/|^$/.test(given[0]);
    return isUrl && page.readyState === 'complete' ? window.open(given[0]) : Reflect.apply(open, page, given);
  },
});
