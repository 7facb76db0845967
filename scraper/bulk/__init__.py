"""Read long lists of URLs, or whole sites, into files; an interrupted job continues where it stopped."""
