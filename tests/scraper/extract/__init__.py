"""Tests of content extraction, which needs no network and no browser."""
