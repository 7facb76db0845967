"""Crawl sites as a job: each page that is read adds the pages to which it links."""
