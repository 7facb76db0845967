"""OpenDocument readers for texts, presentations and spreadsheets."""
