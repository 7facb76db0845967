"""Interact with pages in sessions: text outlines of the visible page, trusted input events, steps and limits."""
