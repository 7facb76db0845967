"""Words of human languages by topic, and the patterns that are built from them.

Each TOML file is a topic, each table in it a list of words by language. README.md explains how to add a language.
"""
