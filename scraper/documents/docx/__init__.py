"""Word reader: first inserts what mammoth ignores (numbers, formulas, text boxes) as plain text.

Then it converts mammoth's HTML to Markdown.
"""
