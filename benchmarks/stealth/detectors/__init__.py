"""Pages that tell a browser from a robot: other people's detectors, and their published checks."""
