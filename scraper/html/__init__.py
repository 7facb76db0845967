"""Parse HTML into trees: elements, visibility, text blocks and formulas."""
