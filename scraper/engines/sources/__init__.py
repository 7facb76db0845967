"""Searchable sources with documented APIs: papers, code, packages, questions, encyclopedias, forums, books, videos."""
