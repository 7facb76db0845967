"""Judge if a page is content, a block page or an empty shell."""
