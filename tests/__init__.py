"""Tests of the whole house, against real Chromium, real sockets and real files."""
