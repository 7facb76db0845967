"""Elements, style sheets and headers that load something by themselves."""

from __future__ import annotations

import json

from tests.hostile.target import Target, Vector, markup

LINKS = (
    "stylesheet prefetch preconnect dns-prefetch icon manifest prerender modulepreload apple-touch-icon "
    "compression-dictionary"
).split()
TINY_VIDEO = "data:video/mp4;base64,AA"
XML = {"Content-Type": "text/xml"}
SVG = {"Content-Type": "image/svg+xml"}


def elements(target: Target) -> dict[str, Vector]:
    """Return the vectors by name."""
    return _media(target) | _styles(target) | _links(target) | _documents(target) | _reports(target)


def _media(target: Target) -> dict[str, Vector]:
    url = target.url
    track = f"<track default kind=captions src='{url('track')}'>"
    return {
        "img": markup(f"<img src='{url('img')}'>"),
        "video": markup(f"<video src='{url('video')}'></video>"),
        "audio": markup(f"<audio src='{url('audio')}'></audio>"),
        "script": markup(f"<script src='{url('script')}'></script>"),
        "input": markup(f"<input type=image src='{url('input')}'>"),
        "srcset": markup(f"<img srcset='{url('srcset')} 1x'>"),
        "poster": markup(f"<video poster='{url('poster')}'></video>"),
        "track": markup(f"<video src='{TINY_VIDEO}' crossorigin>{track}</video>"),
        "attribution": markup(f"<img attributionsrc='{url('attribution')}' src='data:,'>"),
        "module-import": markup(f"<script type=module>import('{url('module-import')}')</script>"),
    }


def _styles(target: Target) -> dict[str, Vector]:
    url = target.url
    face = f"<style>@font-face{{font-family:q;src:url('{url('font')}')}}</style>"
    return {
        "css-import": markup("", f"<style>@import '{url('css-import')}';</style>"),
        "css-url": markup(f"<p style=\"background:url('{url('css-url')}')\">x"),
        "font": markup("<p style='font-family:q'>x", face),
    }


def _links(target: Target) -> dict[str, Vector]:
    url = target.url
    rules = json.dumps(
        {act: [{"urls": [url("specrules")], "eagerness": "immediate"}] for act in ("prefetch", "prerender")}
    )
    elsewhere = (
        "<link rel=dns-prefetch href='http://leak2.example.org/'><link rel=preconnect href='http://leak3.example.org/'>"
    )
    found = {f"link-{rel}": markup("", f"<link rel='{rel}' href='{url('link-' + rel)}'>") for rel in LINKS}
    for rel, more in (("preload", "; as=script"), ("prefetch", ""), ("preconnect", "")):
        name = f"hdr-link-{rel}"
        found[name] = markup("", headers={"Link": f"<{url(name)}>; rel={rel}{more}"})
    return found | {
        "link-preload": markup("", f"<link rel=preload as=image href='{url('link-preload')}'>"),
        "specrules": markup("", f"<script type=speculationrules>{rules}</script>"),
        "dns-prefetch-name": markup("", elsewhere),
    }


def _documents(target: Target) -> dict[str, Vector]:
    url = target.url
    style = f"<?xml-stylesheet type='text/xsl' href='{url('xslt')}'?>"
    entity = f"<!DOCTYPE a [<!ENTITY e SYSTEM '{url('xml-entity')}'>]>"
    drawing = (
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'>"
        f"<image href='{url('svg')}'/><use xlink:href='{url('svg')}#a'/>"
        f"<foreignObject><img xmlns='http://www.w3.org/1999/xhtml' src='{url('svg')}'/></foreignObject></svg>"
    )
    return {
        "xslt": Vector(f"<?xml version='1.0'?>{style}<a/>", XML),
        "xml-entity": Vector(f"<?xml version='1.0'?>{entity}<a>&e;</a>", XML),
        "svg": Vector(drawing, SVG),
    }


def _reports(target: Target) -> dict[str, Vector]:
    """Return pages with reports of violations and errors, which the browser sends to a URL of the page."""
    url = target.url
    violation = "<img src=http://nowhere.invalid/x>"
    to = json.dumps({"group": "n", "max_age": 600, "endpoints": [{"url": url("nel")}]})
    nel = json.dumps({"report_to": "n", "max_age": 600, "success_fraction": 1.0, "failure_fraction": 1.0})
    policy = f"img-src 'none'; report-uri {url('csp-report')}"
    return {
        "csp-report": markup(violation, headers={"Content-Security-Policy": policy}),
        "reporting-api": markup(
            violation,
            headers={
                "Reporting-Endpoints": f'd="{url("reporting-api")}"',
                "Content-Security-Policy": "img-src 'none'; report-to d",
            },
        ),
        "nel": markup("<img src=/404x>", headers={"Report-To": to, "NEL": nel}),
    }
