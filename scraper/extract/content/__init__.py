"""Find the content of a page: segment it into text blocks and classify each block."""
