"""Extract links with Scrapy: JSON lines with `url` and `html` in, `links` out, each with its request fingerprint."""
# mypy: ignore-errors

import json
import sys

from scrapy.http import HtmlResponse, Request
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.request import fingerprint


def main():
    extractor = LinkExtractor()
    for line in sys.stdin:
        page = json.loads(line)
        response = HtmlResponse(page["url"], body=page["html"].encode(), encoding="utf-8")
        links = [[link.url, fingerprint(Request(link.url)).hex()] for link in extractor.extract_links(response)]
        print(json.dumps({"links": links}), flush=True)


if __name__ == "__main__":
    main()
