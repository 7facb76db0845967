"""Host names of the site, which are distinguished by the Host header alone."""

from __future__ import annotations

from types import MappingProxyType

from aiohttp import web

TRACKERS = ("www.googletagmanager.com", "securepubads.g.doubleclick.net", "static.criteo.net")
WIDGETS = ("platform-api.sharethis.com", "sdk.privacy-center.org", "embed.tawk.to")
CONTENT_HOSTS = ("www.recaptcha.net", "harbour.disqus.com")
"""Third parties that pages load scripts from."""

NEVER_REFUSED = """
challenges.cloudflare.com hcaptcha.com js.hcaptcha.com www.google.com www.gstatic.com recaptcha.net js.datadome.co
geo.captcha-delivery.com client.perimeterx.net captcha.px-cdn.net client-api.arkoselabs.com token.awswaf.com
ips.js.kasada.io js.stripe.com www.paypalobjects.com maps.googleapis.com api.mapbox.com unpkg.com cdn.jsdelivr.net
cdnjs.cloudflare.com ajax.googleapis.com fonts.googleapis.com use.typekit.net player.vimeo.com www.youtube.com
cdn.jwplayer.com fast.wistia.com disqus.com c.disquscdn.com launcher.spot.im static.parastorage.com cdn.shopify.com
assets.squarespace.com i0.wp.com pbs.twimg.com scontent.fbcdn.net scontent.cdninstagram.com i.pinimg.com
media.licdn.com static.zdassets.com res.cloudinary.com images.ctfassets.net widget.trustpilot.com judge.me
accounts.google.com login.microsoftonline.com www.bing.com s.yimg.com assets.bigcartel.com secure.gravatar.com
""".split()
"""Hosts of challenges, captchas, CDNs, hosting, payment, maps, players, comments, reviews, images and sign-in."""

PLAIN_HOSTS = (
    "site.example",
    "www.site.example",
    "other.example",
    "third.example",
    *(f"host{i}.example" for i in range(1, 13)),
    *TRACKERS,
    *WIDGETS,
    *CONTENT_HOSTS,
)
"""Hosts served without TLS. The numbered ones are for tests that need many hosts."""

TLS_HOSTS = ("secure.example", "other-secure.example")
"""Hosts served with TLS, with a certificate created at the start."""

# Two names that are different sites to a browser, so that a frame of one in the other is cross-site.
_OTHER_SITES = MappingProxyType(
    {
        "other.example": "site.example",
        "secure.example": "other-secure.example",
        "other-secure.example": "secure.example",
        "127.0.0.1": "localhost",
        "localhost": "127.0.0.1",
    }
)


def origin(request: web.Request, host: str) -> str:
    """Return `scheme://host[:port]` for another host name on the port that the client used."""
    _, colon, port = request.host.partition(":")
    return f"{request.scheme}://{host}{colon}{port}"


def other_origin(request: web.Request) -> str:
    """Return the origin of another site of this server."""
    name = request.host.partition(":")[0]
    return origin(request, _OTHER_SITES.get(name, "other.example"))
