"""Read long lists of URLs into files; an interrupted job continues where it stopped."""
