"""A local web site of difficult pages, so that tests need no internet."""
