"""Spellings of local addresses, and a page that tries one of them in every common way."""

from __future__ import annotations

import socket

from tests.hostile.target import Target, Vector, script

PRIVATE_NAMES = {
    "name-private": "private.hostile.example",
    "name-mixed": "mixed.hostile.example",
    "name-mapped6": "mapped.hostile.example",
    "rebind": "rebind.hostile.example",
}
"""Names that the hostile resolver answers."""

QUICK_SPELLINGS = "v6-mapped decimal name-mixed rebind own4".split()


def spellings() -> dict[str, str]:
    """Return the hosts by the name of the trick."""
    own4, own6 = _own_address("192.0.2.2"), _own_address("fd00::2")
    return PRIVATE_NAMES | {
        "v4": "127.0.0.1",
        "v4-other": "127.8.8.8",
        "localhost": "localhost",
        "sub.localhost": "x.localhost",
        "localhost-dot": "localhost.",
        "zero": "0.0.0.0",
        "decimal": "2130706433",
        "octal": "0177.0.0.1",
        "hex": "0x7f000001",
        "short": "127.1",
        "short0": "0",
        "fullwidth": "１２７.0.0.1",
        "circled": "①②⑦.⓪.⓪.①",
        "v6": "[::1]",
        "v6-any": "[::]",
        "v6-mapped": "[::ffff:127.0.0.1]",
        "v6-mapped-hex": "[::ffff:7f00:1]",
        "v6-compat": "[::7f00:1]",
        "nat64": "[64:ff9b::7f00:1]",
        "6to4": "[2002:7f00:1::]",
        "own4": own4,
        "own6": f"[{own6}]",
        "userinfo": "www.example.com@127.0.0.1",
        "metadata": "169.254.169.254",
    }


def spelled(target: Target) -> Vector:
    """Return a page that fetches, opens a socket, loads an image and a redirected frame, and repeats it."""
    url = target.url("spelled")
    socket = f"{target.ws_scheme}://{target.authority}/spelled"
    # A rebinding name resolves to a public address at first.
    return script(
        f"function go(){{fetch('{url}',{{mode:'no-cors'}}).catch(e=>0);"
        f"try{{new WebSocket('{socket}')}}catch(e){{}};"
        f"let i=new Image();i.src='{url}?'+Math.random();"
        f"let f=document.createElement('iframe');f.src='{target.detour('spelled', hops=2)}';"
        "document.body.append(f)}go();setTimeout(go,400)"
    )


def _own_address(fallback: str) -> str:
    """Return an address of this machine that is not loopback, of the same family as the fallback."""
    family = socket.AF_INET6 if ":" in fallback else socket.AF_INET
    try:
        # Connecting a datagram socket sends nothing; it only asks the kernel for the source address.
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(("2001:db8::1" if ":" in fallback else "192.0.2.1", 9))
            return str(probe.getsockname()[0])
    except OSError:
        return fallback
