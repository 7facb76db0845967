"""Egress proxy: the only path from the browsers to the network, and the policy for targets.

Each browser context uses a SOCKS5 listener of its own as its proxy. The proxy resolves names, checks every address,
connects to a checked address and counts bytes. It logs failures for each visit, because Chromium reports one error for
all of them.
"""
