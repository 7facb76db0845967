"""Builds the Dockerfile without a container engine and proves the image."""
