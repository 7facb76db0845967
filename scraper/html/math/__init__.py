"""Convert formulas of web pages into TeX."""
