"""A hostile web site: pages that try to reach the local network in every way, and canaries that detect it.

Shared by the tests and by `python -m benchmarks.egress`.
"""
