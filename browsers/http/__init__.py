"""HTTP details that browsers handle differently from the standard library: encodings and URLs."""
