"""Value types of settings, command line options and tool arguments."""
