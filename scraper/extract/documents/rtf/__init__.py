"""RTF: words of control in groups of braces, made into the blocks that they describe."""
