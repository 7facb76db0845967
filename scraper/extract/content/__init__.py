"""Which blocks of a page are its content: a model that judges each block in its surroundings."""
