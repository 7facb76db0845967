"""Serve the difficult pages by hand: `python -m tests.site`."""

from __future__ import annotations

import argparse
import asyncio

from tests.site.hosts import TLS_HOSTS
from tests.site.server import serve


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(prog="tests.site", description="A local web site of difficult pages.")
    parser.add_argument("--port", type=int, default=0, help="port without TLS; 0 uses a free port")
    parser.add_argument("--tls-port", type=int, default=0, help="port with TLS; 0 uses a free port")
    parser.add_argument("--hosts", nargs="*", default=list(TLS_HOSTS), help="names in the certificate")
    parser.add_argument("--until-stdin-closes", action="store_true", help="stop when stdin closes")
    options = parser.parse_args()
    asyncio.run(serve(options.port, options.tls_port, options.hosts, until_stdin_closes=options.until_stdin_closes))


if __name__ == "__main__":
    main()
