"""OpenDocument: texts, presentations and spreadsheets, from their part of content and their styles."""
