"""Reader of LaTeX source files."""
