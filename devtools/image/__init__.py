"""Build the image without a container engine, and test it."""
