"""A local web site of awkward pages, so that tests meet what the web does without going there.

`python -m tests.site --port 8080` serves it by hand; `tests.site.running.running_site()` starts it as a
process of its own, so that its CPU is not counted as ours. `/` lists every page, `/manifest.json` tells how
many marker words a complete reading of each awkward page must show.
"""
