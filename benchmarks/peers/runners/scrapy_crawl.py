"""Crawl a site with Scrapy as its users do, and write URL, title and text of each page: URL, pages, output file."""
# mypy: ignore-errors

import sys

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor


class Pages(scrapy.Spider):
    name = "pages"
    extractor = LinkExtractor()

    def parse(self, response):
        text = " ".join(response.css("main ::text").getall())
        yield {"url": response.url, "title": response.css("title::text").get(), "text": text}
        for link in self.extractor.extract_links(response):
            yield scrapy.Request(link.url)


def main():
    url, pages, output = sys.argv[1:]
    settings = {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "DOWNLOAD_DELAY": 0,
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "CLOSESPIDER_PAGECOUNT": int(pages),
        "FEEDS": {output: {"format": "jsonlines"}},
    }
    process = CrawlerProcess(settings)
    process.crawl(Pages, start_urls=[url])
    process.start()


if __name__ == "__main__":
    main()
