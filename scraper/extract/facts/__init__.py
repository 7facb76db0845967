"""What a page says of its product or recipe: facts from wherever they stand, each with its source."""
