"""Act on pages in sessions: outlines of what a person sees, trusted input, steps, limits."""
