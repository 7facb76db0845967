"""Find code blocks and their languages in HTML, and normalize their markup."""
