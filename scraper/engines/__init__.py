"""Search engines: build requests and parse result pages. One file per engine; no I/O."""
