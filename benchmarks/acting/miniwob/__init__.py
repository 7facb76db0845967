"""Solve pages of MiniWoB++ by scripted oracles over steps and outlines: no oracle reads the DOM."""
