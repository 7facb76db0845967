"""Navigations of the page, a window or a frame to the canary."""

from __future__ import annotations

from tests.hostile.target import Target, Vector, markup, script

SCHEMES = (
    "file:///etc/passwd",
    "ftp://{at}/ftp",
    "chrome://version",
    "devtools://devtools/bundled/inspector.html",
    "gopher://{at}/g",
    "mailto:a@b",
    "filesystem:http://{at}/x",
    "about:blank",
    "chrome-untrusted://x",
    "intent://x",
)


def navigations(target: Target) -> dict[str, Vector]:
    """Return the vectors by name."""
    return _redirects(target) | _moves(target) | _frames(target) | _schemes(target)


def _redirects(target: Target) -> dict[str, Vector]:
    codes = {
        f"redirect{code}": Vector.redirect(target.url(f"redirect{code}"), code) for code in (301, 302, 303, 307, 308)
    }
    return codes | {
        "redirect-chain": Vector.redirect(target.detour("redirect-chain", hops=3)),
        "redirect-file": Vector.redirect("file:///etc/passwd"),
    }


def _moves(target: Target) -> dict[str, Vector]:
    url = target.url
    refresh = f"<meta http-equiv=refresh content='0;url={url('meta-refresh')}'>"
    get = f"<form id=f action='{url('form-get')}'><input name=a></form><script>f.submit()</script>"
    post = (
        f"<form id=f method=post enctype=text/plain action='{url('form-post')}'><input name=a value=b></form>"
        "<script>f.submit()</script>"
    )
    ping = f"<a id=a href='#x' ping='{url('ping')}'>x</a><script>a.click()</script>"
    download = f"<a id=a download href='{url('download')}'>x</a><script>a.click()</script>"
    return {
        "refresh-header": markup("", headers={"Refresh": f"0; url={url('refresh-header')}"}),
        "meta-refresh": markup("", refresh),
        "location": script(f"location.href='{url('location')}'"),
        "open": script(f"window.open('{url('open')}')"),
        "open-noopener": script(f"window.open('{url('open-noopener')}','_blank','noopener')"),
        "view-source": script(f"try{{window.open('view-source:{url('view-source')}')}}catch(e){{}}"),
        "form-get": markup(get),
        "form-post": markup(post),
        "ping": markup(ping),
        "download": markup(download),
        "download-nav": markup(f"<iframe src='{target.detour('download-nav')}'></iframe>"),
    }


def _frames(target: Target) -> dict[str, Vector]:
    url = target.url
    blob = (
        "let i=document.createElement('iframe');i.src=URL.createObjectURL(new Blob("
        f"[\"<img src='{url('iframe-blob')}'>\"],{{type:'text/html'}}));document.body.append(i)"
    )
    of_data = f"data:text/html,<script>fetch('{url('iframe-data')}',{{mode:'no-cors'}})</script>"
    of_script = f"javascript:fetch('{url('iframe-js')}',{{mode:'no-cors'}})"
    return {
        "iframe": markup(f"<iframe src='{url('iframe')}'></iframe>"),
        "embed": markup(f"<embed src='{url('embed')}'>"),
        "object": markup(f"<object data='{url('object')}'></object>"),
        "iframe-srcdoc": markup(f"<iframe srcdoc=\"<img src='{url('iframe-srcdoc')}'>\"></iframe>"),
        "iframe-data": markup(f'<iframe src="{of_data}"></iframe>'),
        "iframe-js": markup(f'<iframe src="{of_script}"></iframe>'),
        "iframe-blob": script(blob),
    }


def _schemes(target: Target) -> dict[str, Vector]:
    urls = [scheme.format(at=target.authority) for scheme in SCHEMES]
    return {f"scheme-{url.partition(':')[0]}": script(_everywhere(url)) for url in urls}


def _everywhere(target: str) -> str:
    """Return a script that navigates by location, window, frame and fetch, and shows the result as title."""
    return (
        f"try{{location.href='{target}'}}catch(e){{}};try{{window.open('{target}')}}catch(e){{}};"
        f"let i=document.createElement('iframe');i.src='{target}';document.body.append(i);"
        f"fetch('{target}').then(r=>r.text()).then(x=>document.title='LEAK '+x).catch(e=>0)"
    )
