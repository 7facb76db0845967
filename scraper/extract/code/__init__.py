"""Find code blocks and their languages in HTML."""
