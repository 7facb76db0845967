"""Made sites with traps for crawlers, answered from memory; each knows its true pages."""
