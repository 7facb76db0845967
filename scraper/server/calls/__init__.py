"""Dispatch, limits and progress of tool calls."""
