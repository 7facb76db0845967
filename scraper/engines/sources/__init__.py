"""Sources for one kind of result: papers, code, packages, questions, forums, news, encyclopedias, books, videos.

All have documented APIs, except YouTube, whose result page is parsed.
"""
