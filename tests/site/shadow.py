"""Pages with text in shadow roots."""

from __future__ import annotations

import json

from tests.site.catalogue import fixed
from tests.site.markup import page
from tests.site.prose import mark, paragraph_texts, paragraphs

_ROOTS = """<div id="open"></div><div id="closed"></div>
<div><template shadowrootmode="open">%s</template></div>
<div><template shadowrootmode="closed">%s</template></div>
<script>
const texts = %s;
const fill = (id, mode, from, to) => {
  const root = document.getElementById(id).attachShadow({ mode });
  for (const text of texts.slice(from, to)) {
    const p = document.createElement('p'); p.textContent = text; root.append(p);
  }
};
fill('open', 'open', 0, 10);
fill('closed', 'closed', 10, 20);</script>"""

_SLOTS = """<log-card><span slot="title">%s is the title</span>%s</log-card>
<script>customElements.define('log-card', class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({ mode: 'open' }).innerHTML =
      '<h2><slot name="title"></slot></h2><p>FRAME-OF-CARD</p><div><slot></slot></div>';
  }
})</script>"""

_NESTED = """<log-outer></log-outer><script>
customElements.define('log-inner', class extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({ mode: 'closed' });
    const p = document.createElement('p'); p.textContent = this.dataset.text; root.append(p);
  }
});
customElements.define('log-outer', class extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({ mode: 'open' });
    for (const text of %s) {
      const inner = document.createElement('log-inner'); inner.dataset.text = text; root.append(inner);
    }
  }
});</script>"""

PAGES = (
    fixed(
        "/shadow",
        "open, closed and declared shadow roots",
        page(
            "Shadow roots",
            _ROOTS
            % (
                paragraphs("shadow", 20, 25),
                paragraphs("shadow", 25, 30),
                json.dumps(paragraph_texts("shadow", 0, 20)),
            ),
        ),
        marks=30,
    ),
    fixed(
        "/slots",
        "a component with slots",
        page(
            "Slots",
            _SLOTS % (mark("slots", 0), "".join(f"<p>{mark('slots', i)} in the light</p>" for i in range(1, 10))),
        ),
        marks=10,
    ),
    fixed(
        "/shadow-nested",
        "closed roots inside an open one",
        page("Nested roots", _NESTED % json.dumps(paragraph_texts("shadow-nested", 0, 10))),
        marks=10,
    ),
)
