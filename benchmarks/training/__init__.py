"""How the reader's model is made: pages with gold texts in, weights out."""
