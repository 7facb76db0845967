// Changes functions of a page on which steps act. Runs in the world of the page.

// In the full browser, the dialog of print() stops the scripts of the page.
window.print = new Proxy(window.print, {apply() {}});
// A pointer lock gives all later clicks to one element.
Element.prototype.requestPointerLock = new Proxy(Element.prototype.requestPointerLock, {
  apply: () => Promise.reject(new DOMException('The user rejected the request.', 'NotAllowedError')),
});
// In an attribute such as onclick, open(url) means document.open, which would empty the page.
Document.prototype.open = new Proxy(Document.prototype.open, {
  apply(open, page, given) {
    const isUrl = given.length === 1 && typeof given[0] === 'string' && !/^text\/|^$/.test(given[0]);
    return isUrl && page.readyState === 'complete' ? window.open(given[0]) : Reflect.apply(open, page, given);
  },
});
