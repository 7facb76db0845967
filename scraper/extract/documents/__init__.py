"""Documents that are no web pages, from their bytes: one file a format, told apart in `sniff`."""
