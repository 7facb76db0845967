"""Lazy-loaded images, and video players in frames."""

from __future__ import annotations

import pytest

from browsers.model import Frame
from tests.scraper.extract.snapshots import WORDS, read

PICTURE = "https://example.com/real.jpg"
FALLBACK = "<noscript><img src=/real.jpg alt='A harbour at night'></noscript>"


@pytest.mark.parametrize(
    "picture",
    [
        f"<img class=lazy src=data:image/gif;base64,R0 alt='A harbour at night'>{FALLBACK}",
        f"<img class=lazy src=data:image/gif;base64,R0>{FALLBACK}",
        f"<picture><img alt=''></picture> {FALLBACK}",
        FALLBACK,
    ],
)
@pytest.mark.parametrize("rendered", [False, True])
def test_a_lazy_image_is_taken_from_noscript(picture: str, rendered: bool) -> None:
    document = read(f"<main><p>{WORDS}</p><figure>{picture}</figure><p>{WORDS}</p></main>", rendered=rendered)
    assert [(image.url, image.alt) for image in document.images] == [(PICTURE, "A harbour at night")]
    assert document.markdown.count("real.jpg") == 1


def test_an_image_also_in_noscript_occurs_once() -> None:
    shown = "<img src=/here.jpg alt=Here>"
    document = read(f"<main><p>{WORDS}</p><figure>{shown}{FALLBACK}</figure></main>")
    assert [image.url for image in document.images] == ["https://example.com/here.jpg"]


def test_an_image_beside_noscript_text_stays_in_place() -> None:
    told = f"<noscript><p>{WORDS}</p><img src=/real.jpg alt=Harbour></noscript>"
    document = read(f"<main><h1>T</h1>{told}</main>")
    assert WORDS.strip() in document.text and "/real.jpg" in document.markdown


@pytest.mark.parametrize(
    ("frame", "page"),
    [
        ("<iframe src='https://www.youtube.com/embed/a_b-1?start=3'>", "https://www.youtube.com/watch?v=a_b-1"),
        ("<iframe src='//www.youtube-nocookie.com/embed/xyz'>", "https://www.youtube.com/watch?v=xyz"),
        (
            "<iframe src='https://www.youtube.com/embed/videoseries?si=1&list=PL1'>",
            "https://www.youtube.com/playlist?list=PL1",
        ),
        ("<iframe data-src='https://player.vimeo.com/video/77?h=1' src=about:blank>", "https://vimeo.com/77"),
        ("<iframe src='//player.bilibili.com/player.html?aid=1&bvid=BV1'>", "https://www.bilibili.com/video/BV1"),
        ("<lite-youtube videoid=abc title=Talk>", "https://www.youtube.com/watch?v=abc"),
    ],
)
@pytest.mark.parametrize("rendered", [False, True])
def test_a_video_player_becomes_a_link_to_its_page(frame: str, page: str, rendered: bool) -> None:
    end = f"</{frame[1:].split()[0]}>"
    html = f"<main><p>{WORDS}</p><p>{frame.replace('>', ' title=Talk>', 1)}{end}</p><p>{WORDS}</p></main>"
    document = read(html, rendered=rendered)
    assert document.markdown == f"{WORDS.strip()}\n\n[Talk]({page})\n\n{WORDS.strip()}"
    assert (page, "Talk") in [(link.url, link.text) for link in document.links]


def test_the_content_of_a_player_frame_is_removed() -> None:
    frames = (Frame("1", "https://www.youtube.com/embed/x", "<body><p>Watch later. Share.</p></body>"),)
    player = "<iframe data-x-frame=1 src=https://www.youtube.com/embed/x></iframe>"
    document = read(f"<main><p>{WORDS}</p><p>{player}</p></main>", rendered=True, frames=frames)
    assert "Watch later" not in document.text and "[Video](" in document.markdown


@pytest.mark.parametrize(
    "frame",
    [
        "<iframe src=https://ads.example/embed/x title=Ad></iframe>",
        "<iframe src=https://www.youtube.com.evil.example/embed/x></iframe>",
        "<iframe src='https://[' ></iframe>",
        "<lite-youtube videoid='\"><script>'></lite-youtube>",
    ],
)
def test_other_frames_are_removed(frame: str) -> None:
    assert read(f"<main><p>{WORDS}</p>{frame}</main>").markdown == WORDS.strip()


def test_custom_elements_with_a_picture_are_images() -> None:
    picture = "<x-img src=/real.jpg alt='A harbour'><noscript>&lt;img src=/small.jpg&gt;</noscript></x-img>"
    markdown = read(f"<main><p>{WORDS}</p>{picture}<p>{WORDS}</p></main>").markdown
    assert f"![A harbour]({PICTURE})" in markdown and "<img" not in markdown


@pytest.mark.parametrize(
    ("player", "expected"),
    [
        ("<video controls src=/a.mp4></video>", "[Video](https://example.com/a.mp4)"),
        ("<audio controls title=Talk><source src=/a.mp3></audio>", "[Talk](https://example.com/a.mp3)"),
        ("<figure><video><source src=/a.mp4></video></figure>", "[Video](https://example.com/a.mp4)"),
        ("<video autoplay muted src=/a.mp4></video>", ""),
        ("<video controls src=blob:x></video>", ""),
        ("<canvas><table><tr><th>Hour<th>m<tr><td>6<td>1</table></canvas>", "| 6 | 1 |"),
        ("<canvas>Your browser is old.</canvas>", ""),
    ],
)
def test_players_and_drawings_leave_their_file_or_table(player: str, expected: str) -> None:
    markdown = read(f"<main><p>{WORDS}</p>{player}<p>{WORDS}</p></main>").markdown
    assert expected in markdown if expected else "](" not in markdown and "browser" not in markdown


def test_amp_images_and_videos_are_converted() -> None:
    more = "<amp-img src=/real.jpg alt='A harbour'></amp-img><amp-youtube data-videoid=abc></amp-youtube>"
    document = read(f"<main><p>{WORDS}</p>{more}<p>{WORDS}</p></main>")
    assert f"![A harbour]({PICTURE})" in document.markdown
    assert "https://www.youtube.com/watch?v=abc" in document.markdown
