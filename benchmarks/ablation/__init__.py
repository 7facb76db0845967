"""Costs of the stages of the reader, and changes of all figures without one rule."""
