"""Tests of the whole project, with real Chromium, real sockets and real files."""
