"""PDF reader: text runs and lines from PDFium (`pdfium_source`), and layout analysis, one module per task."""
