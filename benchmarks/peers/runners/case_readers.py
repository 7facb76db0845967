"""Read pages and documents: lines of JSON with `file`, `type` and `url` in, `markdown` and facts or `error` out."""
# mypy: ignore-errors

import json
import sys
from pathlib import Path


def trafilatura():
    from trafilatura import extract, extract_metadata

    def read(file, media_type, url):
        data = file.read_bytes()
        markdown = extract(
            data,
            url=url,
            output_format="markdown",
            favor_recall=True,
            include_comments=True,
            include_formatting=True,
            include_images=True,
            include_links=True,
            include_tables=True,
        )
        found = extract_metadata(data, default_url=url)
        facts = {"title": found.title, "author": found.author, "published": found.date} if found else {}
        return {"markdown": markdown or "", **facts}

    return read


def markitdown():
    from markitdown import MarkItDown, StreamInfo

    reader = MarkItDown(enable_plugins=False)

    def read(file, media_type, url):
        kind, _, parameters = media_type.partition(";")
        info = StreamInfo(
            mimetype=kind or None,
            charset=parameters.partition("charset=")[2].strip() or None,
            extension=file.suffix,
            filename=file.name,
            url=url or None,
        )
        with file.open("rb") as opened:
            found = reader.convert_stream(opened, stream_info=info)
        return {"markdown": found.markdown, "title": found.title}

    return read


def main():
    read = globals()[sys.argv[1]]()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = read(Path(request["file"]), request["type"], request["url"])
        except Exception as error:  # a reader that breaks refuses the file
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
