"""PDF reader: text runs and lines from PDFium (`liteparse_loader`), and layout analysis, one module per task."""
