"""Pages that detect automated browsers: third-party detectors and their published checks."""
