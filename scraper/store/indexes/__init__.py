"""Named document indexes, in memory or in a store."""
