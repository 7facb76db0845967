"""Find, install, launch and end Chromium."""
