"""Pictures of pages whose every pixel is known."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from browsers import Browsers, Mode, Request, Snapshot, Tier, errors
from browsers.model import Screenshot, ScreenshotKind, ScreenshotRequest
from browsers.navigation.capture import MAX_BYTES, MAX_EDGE, MAX_PAGE_HEIGHT, MAX_PIXELS, WINDOW_HEIGHT, WINDOW_WIDTH
from tests.growth import thorough
from tests.site import colored_pages
from tests.site.colored_pages import BAND, BANDS, STICKY, color_of
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def visit(
    browsers: Browsers, site: Site, path: str, request: ScreenshotRequest, tier: Tier = Tier.FULL
) -> Snapshot:
    return await browsers.visit(
        Request(site.url(path), tier=tier, mode=Mode.RENDER, picture=request, deadline_s=60), None
    )


def opened(picture: Screenshot) -> Image.Image:
    return Image.open(io.BytesIO(picture.data)).convert("RGB")


def is_like(pixel: object, color: tuple[int, int, int]) -> bool:
    assert isinstance(pixel, tuple)
    return all(abs(one - other) <= 8 for one, other in zip(pixel, color, strict=True))


def columns(pictures: tuple[Screenshot, ...], x: int) -> list[object]:
    """Return the pixels of one column of all parts, from top to bottom."""
    images = [opened(picture) for picture in pictures]
    return [image.getpixel((x, y)) for image in images for y in range(image.height)]


@pytest.mark.parametrize("name", ["plain", "sticky", "inner", *map(thorough, ("observed", "fade", "fixed", "wide"))])
async def test_the_whole_page_is_exact(browsers: Browsers, site: Site, name: str) -> None:
    snapshot = await visit(browsers, site, f"/colored/{name}", ScreenshotRequest(ScreenshotKind.FULL, image_type="png"))
    overview, *parts = snapshot.pictures
    pixels = columns(tuple(parts), 600)
    shift = 40 if name == "sticky" else 0
    assert abs(len(pixels) - colored_pages.HEIGHT - shift) <= 40
    middles = [pixels[shift + band * BAND + BAND // 2] for band in range(BANDS)]
    assert [is_like(pixel, color_of(band)) for band, pixel in enumerate(middles)] == [True] * BANDS
    header = sum(is_like(pixel, STICKY) for pixel in pixels)
    assert header == (40 if name in ("sticky", "fixed") else 0)
    assert {part.width for part in parts} == {WINDOW_WIDTH}
    assert {part.scale for part in parts} == {1.0}
    assert max(overview.width, overview.height) <= MAX_EDGE
    assert overview.cut_off == 0


@pytest.mark.thorough
async def test_an_endless_page_is_cut(browsers: Browsers, site: Site) -> None:
    overview, *parts = (await visit(browsers, site, "/acting/tall", ScreenshotRequest(ScreenshotKind.FULL))).pictures
    assert overview.cut_off >= 200_000 - MAX_PAGE_HEIGHT
    assert sum(part.height for part in parts) == pytest.approx(MAX_PAGE_HEIGHT, abs=20)


async def test_pictures_fit_the_limits_of_models(browsers: Browsers, site: Site) -> None:
    for kind in (ScreenshotKind.WINDOW, ScreenshotKind.FULL):
        for picture in (await visit(browsers, site, "/rich", ScreenshotRequest(kind))).pictures:
            image = Image.open(io.BytesIO(picture.data))
            assert image.format == "WEBP" and picture.media_type == "image/webp"
            assert abs(image.width - picture.width) <= 1 and abs(image.height - picture.height) <= 1
            assert max(image.size) <= MAX_EDGE and image.width * image.height <= MAX_PIXELS
            assert len(picture.data) <= MAX_BYTES


async def test_the_window_shows_the_top_of_the_page(browsers: Browsers, site: Site) -> None:
    (picture,) = (await visit(browsers, site, "/colored/plain", ScreenshotRequest(image_type="png"))).pictures
    image = opened(picture)
    assert abs(image.height - WINDOW_HEIGHT) <= 1
    assert is_like(image.getpixel((10, 10)), color_of(0))
    assert is_like(image.getpixel((10, 890)), color_of(2))


@pytest.mark.parametrize("target", ["h1", "Tides in the harbour", thorough("tides in")])
async def test_an_element_is_found_by_selector_or_text(browsers: Browsers, site: Site, target: str) -> None:
    (picture,) = (await visit(browsers, site, "/guide/tides", ScreenshotRequest(target=target))).pictures
    assert 20 < picture.height < 60
    assert len(picture.data) > 0


async def test_an_absent_element_is_an_error(browsers: Browsers, site: Site) -> None:
    with pytest.raises(errors.TargetNotFoundError, match="no such words"):
        await visit(browsers, site, "/guide/tides", ScreenshotRequest(target="no such words"))


async def test_a_page_becomes_a_file(browsers: Browsers, site: Site) -> None:
    (pdf,) = (await visit(browsers, site, "/guide/tides", ScreenshotRequest(ScreenshotKind.PDF))).pictures
    assert pdf.data.startswith(b"%PDF-") and pdf.media_type == "application/pdf"
    (mhtml,) = (await visit(browsers, site, "/guide/tides", ScreenshotRequest(ScreenshotKind.MHTML))).pictures
    assert b"Content-Type: multipart/related" in mhtml.data and b"harbour" in mhtml.data


async def test_the_page_of_a_picture_is_read_too(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/spa/1", ScreenshotRequest())
    assert snapshot.rendered and "MARK-spa" in snapshot.html


async def test_the_headless_shell_takes_pictures_without_images(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/colored/plain", ScreenshotRequest(image_type="png"), Tier.LIGHT)
    assert snapshot.tier is Tier.LIGHT
    assert is_like(opened(snapshot.pictures[0]).getpixel((10, 10)), color_of(0))


async def test_a_response_that_is_no_page_has_no_picture(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/assets/app.js", ScreenshotRequest())
    assert snapshot.pictures == ()
