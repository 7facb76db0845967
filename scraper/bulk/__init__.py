"""Lists of URLs too long for a call: read politely, written once, resumed wherever they were cut off."""
