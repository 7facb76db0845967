"""Tools for developers: generated documentation, code figures, image builds."""
