"""Pages that show more content on scrolling."""

from __future__ import annotations

from tests.site.catalogue import fixed
from tests.site.markup import page, scripted
from tests.site.prose import mark

_END = '<div id="app"></div><div id="end" style="height:20px">more</div>'

_BOUNDED = """let next = 0, busy = false;
const end = document.getElementById('end');
const near = () => end.getBoundingClientRect().top < innerHeight + 200;
async function more() {
  if (busy || next >= 60) return;
  busy = true;
  put(await article('scroll', next, next + 10, 150));
  next += 10;
  busy = false;
  if (near()) more();
}
const check = seen => { if (seen[0].isIntersecting) more(); };
const watch = new IntersectionObserver(check, { rootMargin: '200px' });
watch.observe(end);
addEventListener('scroll', () => { if (near()) more(); });"""

_ENDLESS = """let next = 0, busy = false;
async function more() {
  if (busy) return;
  busy = true;
  put(await article('scroll-endless', next, next + 20, 150));
  next += 20;
  busy = false;
}
new IntersectionObserver(seen => { if (seen[0].isIntersecting) more(); }, { rootMargin: '200px' })
  .observe(document.getElementById('end'));"""

_BY_EVENT = """let next = 30, busy = false;
article('scroll-event', 0, 30, 50).then(put);
addEventListener('scroll', async () => {
  if (busy || next >= 40) return;
  busy = true;
  put(await article('scroll-event', next, next + 10, 100));
  next += 10;
  busy = false;
});"""

_AFTER_PAINTING = """let next = 30;
article('scroll-painted', 0, 30, 50).then(put);
addEventListener('scroll', () => {
  if (next >= 40) return;
  next += 10;
  requestAnimationFrame(() => requestAnimationFrame(() => article('scroll-painted', 30, 40, 100).then(put)));
});"""

_IMAGES = (
    "".join(
        f'<div style="height:700px"><p>Plate {i}. {mark("lazy-images", i)}</p>'
        f'<img loading="lazy" width="200" height="100" alt="lazy {i}" src="/assets/picture/lazy-{i}.png">'
        f'<img class="later" alt="later {i}" data-src="/assets/picture/later-{i}.png"></div>'
        for i in range(20)
    )
    + """<script>
const watch = new IntersectionObserver(seen => seen.forEach(one => {
  if (one.isIntersecting) { one.target.src = one.target.dataset.src; watch.unobserve(one.target); }
}));
document.querySelectorAll('.later').forEach(picture => watch.observe(picture));</script>"""
)

_SECTIONS = """const watch = new IntersectionObserver(seen => seen.forEach(async one => {
  if (!one.isIntersecting || one.target.dataset.done) return;
  one.target.dataset.done = '1';
  const i = Number(one.target.dataset.part);
  const [text] = await article('lazy-sections', i, i + 1, 120);
  one.target.innerHTML = '<p>' + text + '</p>';
}));
document.querySelectorAll('section').forEach(section => watch.observe(section));"""

_BOX = '<div id="box" style="height:400px;overflow:auto;position:relative"><div id="list"></div></div>'

_IN_BOX = """let next = 0, busy = false;
async function more() {
  if (busy || next >= 60) return;
  busy = true;
  for (const text of await article('box', next, next + 20, 60)) list.insertAdjacentHTML('beforeend', `<p>${text}</p>`);
  next += 20;
  busy = false;
}
more();
box.addEventListener('scroll', () => { if (box.scrollTop + box.clientHeight > box.scrollHeight - 100) more(); });"""

_ROWS_OF_BOX = """article('box-rows', 0, 90, 50).then((texts) => {
  list.style = 'height:4500px;position:relative';
  const draw = () => {
    const first = Math.floor(box.scrollTop / 50);
    list.innerHTML = '';
    for (let i = first; i < Math.min(90, first + 9); i++)
      list.insertAdjacentHTML('beforeend', `<p style="position:absolute;top:${i * 50}px">${texts[i]}</p>`);
  };
  draw();
  box.addEventListener('scroll', draw);
});"""

_ROWS_OF_WINDOW = """article('window-rows', 0, 90, 50).then((texts) => {
  list.style = 'height:9000px;position:relative';
  const draw = () => {
    const first = Math.max(0, Math.floor((scrollY - 200) / 100));
    list.innerHTML = '';
    for (let i = first; i < Math.min(90, first + Math.ceil(innerHeight / 100)); i++)
      list.insertAdjacentHTML('beforeend', `<p style="position:absolute;top:${i * 100}px">${texts[i]}</p>`);
  };
  draw();
  addEventListener('scroll', draw);
  addEventListener('resize', draw);
});"""

PAGES = (
    fixed("/scroll", "60 paragraphs, ten more at each scroll to the end", scripted("Scroll", _BOUNDED, _END), marks=60),
    fixed("/scroll-endless", "more without end; 20 are enough", scripted("Endless scroll", _ENDLESS, _END), marks=20),
    fixed(
        "/scroll-event",
        "30 paragraphs, ten more at the first scroll event",
        scripted("Scroll event", _BY_EVENT),
        marks=40,
    ),
    fixed(
        "/scroll-painted",
        "30 paragraphs, ten more two frames after the first scroll event",
        scripted("Scroll, painted", _AFTER_PAINTING),
        marks=40,
    ),
    fixed("/box", "20 paragraphs in a box, more at its end", scripted("Box", _IN_BOX, _BOX), marks=60),
    fixed("/box-rows", "a box that paints 9 of 90 rows", scripted("Rows of a box", _ROWS_OF_BOX, _BOX), marks=90),
    fixed(
        "/window-rows",
        "a list that paints the rows in the window, 90 in all",
        scripted("Rows of the window", _ROWS_OF_WINDOW, '<div id="list"></div>'),
        marks=90,
    ),
    fixed("/lazy-images", "20 paragraphs, 40 pictures that load when seen", page("Lazy pictures", _IMAGES), marks=20),
    fixed(
        "/lazy-sections",
        "15 sections that load when seen",
        scripted(
            "Lazy sections",
            _SECTIONS,
            "".join(f'<section data-part="{i}" style="min-height:600px"></section>' for i in range(15)),
        ),
        marks=15,
    ),
)
