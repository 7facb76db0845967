"""A hostile web site: pages that try every way of a browser to reach what is near it, and canaries that tell.

Shared by the tests and by `python -m benchmarks.egress`.
"""
