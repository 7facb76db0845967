"""Named indexes that callers fill themselves: words, ranks and highlights, in memory or kept in a file."""
