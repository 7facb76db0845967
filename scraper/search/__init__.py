"""Search over several engines at once, and what is built on it: research and comparison."""
