"""The public conformance suite on the product's own server, and the fixtures that it calls by name."""
