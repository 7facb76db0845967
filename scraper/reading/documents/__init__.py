"""Reading of documents: parser processes, local files and documents on the web."""
