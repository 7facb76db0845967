"""Costs of the stages of the reader, and the change of all figures while one rule is switched off."""
