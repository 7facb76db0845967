"""What callers can ask for: one file a tool, from arguments to an answer; knows no protocol."""
