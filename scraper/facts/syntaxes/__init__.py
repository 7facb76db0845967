"""Read the syntaxes of structured data: JSON-LD, microdata, RDFa and OpenGraph."""
