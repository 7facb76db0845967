"""Identity of a browser: user agent, languages, time zone and window."""
