// Wide tables scroll, so the keyboard must reach them. `document$` emits after each page of the site.
document$.subscribe(() => {
  for (const region of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) region.tabIndex = 0;
});
