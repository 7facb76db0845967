"""Read a page, an error and a list through the client that openapi-python-client generated.

python generated_client.py BASE_URL PAGE_URL BROKEN_URL TOKEN, with the generated package on the path
"""

import json
import sys

from search_mcp_client import AuthenticatedClient
from search_mcp_client.api.default import engines, fetch, get_fetch
from search_mcp_client.models import Error, FetchAnswer, FetchBody, FetchBodyFormat, GetFetchFormat, Text

base, page, broken, token = sys.argv[1:]
client = AuthenticatedClient(base_url=base, token=token)
posted = fetch.sync(client=client, body=FetchBody(url=page, format_=FetchBodyFormat.JSON, include="headings"))
got = get_fetch.sync(client=client, url_query=page, format_=GetFetchFormat.MARKDOWN)
failed = fetch.sync(client=client, body=FetchBody(url=broken))
assert isinstance(posted, FetchAnswer) and isinstance(got, Text) and isinstance(failed, Error), (posted, got, failed)
seen = {
    "title": posted.title,
    "headings": [heading.text for heading in posted.headings],
    "text": got.result,
    "error_code": failed.error_code,
    "engines": engines.sync(client=client),
}
print(json.dumps(seen))
