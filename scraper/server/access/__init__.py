"""Access rules, tokens and the OAuth issuer."""
