"""Two short articles without marker words, for the examples of the documentation."""

from __future__ import annotations

from tests.site.catalogue import fixed
from tests.site.markup import page

_TIDES = """<article><h1>Tides in the harbour</h1>
<p>The tide turns about every six hours and twelve minutes. High water is highest two days after a full or new moon,
when the sun and the moon pull in one line. Pilots call this a spring tide.</p>
<h2>Heights</h2>
<table><thead><tr><th>Tide</th><th>High water</th><th>Low water</th></tr></thead>
<tbody><tr><td>Spring</td><td>4.8 m</td><td>0.6 m</td></tr><tr><td>Neap</td><td>3.7 m</td><td>1.9 m</td></tr></tbody>
</table>
<p>Large ships enter the harbour in the hour before high water. The gate of the dock closes at high water and opens
again five hours later.</p></article>"""
_TIDES_HEAD = """<meta name="description" content="When the tide turns in the harbour, and how high it is.">
<meta property="og:site_name" content="Harbour guide">
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Article",
"headline": "Tides in the harbour", "author": {"@type": "Person", "name": "Ada Quay"},
"datePublished": "2024-05-06"}</script>"""

_FERRIES = """<article><h1>Ferries of the harbour</h1>
<p>The morning ferry leaves at half past six, whatever the tide. It has room for two hundred passengers and forty
bicycles. The crossing takes twenty-five minutes in calm weather.</p>
<h2>At low water</h2>
<p>At a low spring tide the small ferry cannot reach the old quay. It lands at the new pier instead, ten minutes on
foot from the station. The harbour office announces this on the day before.</p></article>"""

PAGES = (
    fixed("/guide/tides", "a short article with a table and metadata", page("Tides", _TIDES, _TIDES_HEAD)),
    fixed("/guide/ferries", "a short article", page("Ferries", _FERRIES)),
)
