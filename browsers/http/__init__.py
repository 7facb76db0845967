"""HTTP details that the standard library lacks or handles differently from browsers: encodings and domains."""
