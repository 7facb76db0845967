"""Sources of papers that are queried only if a caller names them.

DataCite, dblp, HAL, INSPIRE, zbMATH, ERIC, OSTI and Hugging Face.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from scraper.engines.model import EngineKind, EngineResult, SearchQuery
from scraper.engines.sources.papers import paper_key
from scraper.engines.sources.source_builder import (
    RESULT_COUNT,
    clean_text,
    given_name_first,
    join_authors,
    json_parser,
    make_row,
    make_source,
    url_with,
    xml_parser,
)
from scraper.html.dom.xpath import Element


def _datacite_url(query: SearchQuery) -> str:
    return url_with("https://api.datacite.org/dois", query=query.text, **{"page[size]": RESULT_COUNT})


def _read_datacite(row: dict[str, Any]) -> EngineResult | None:
    work = row["attributes"]
    texts = (one.get("description") for one in work.get("descriptions") or [] if one["descriptionType"] == "Abstract")
    publisher = work.get("publisher")
    return make_row(
        work["titles"][0]["title"],
        work.get("url") or f"https://doi.org/{work['doi']}",
        next(texts, ""),
        source=publisher.get("name") if isinstance(publisher, dict) else publisher,
        key=paper_key(work["doi"]),
        facts={
            "authors": join_authors(given_name_first(one.get("name")) for one in work.get("creators") or []),
            "year": work.get("publicationYear"),
            "doi": work["doi"],
            "type": (work.get("types") or {}).get("resourceType"),
            "cited_by": work.get("citationCount"),
        },
    )


DATACITE = make_source(
    "datacite",
    "paper",
    _datacite_url,
    json_parser(_read_datacite, "data"),
    by_name=True,
    about="Data sets, software and papers of archives, with DOI.",
)


def _dblp_url(query: SearchQuery) -> str:
    return url_with("https://dblp.org/search/publ/api", q=query.text, format="xml", h=RESULT_COUNT)


_NAMESAKE = re.compile(r" \d{4}$")
"""Number that dblp adds to one of several equal names."""


def _read_dblp(hit: Element) -> EngineResult | None:
    paper = hit.find("info")
    if paper is None:
        return None
    doi = paper.findtext("doi")
    return make_row(
        (paper.findtext("title") or "").removesuffix("."),
        paper.findtext("ee") or paper.findtext("url"),
        source=paper.findtext("venue"),
        key=paper_key(doi),
        facts={
            "authors": join_authors(_NAMESAKE.sub("", one.text or "") for one in paper.iterfind("authors/author")),
            "year": paper.findtext("year"),
            "doi": doi,
            "type": paper.findtext("type"),
        },
    )


DBLP = make_source(
    "dblp",
    "paper",
    _dblp_url,
    xml_parser(_read_dblp, "result", "hits/hit"),
    by_name=True,
    about="Papers of computer science.",
    kind=EngineKind.XML,
)


def _hal_url(query: SearchQuery) -> str:
    return url_with(
        "https://api.archives-ouvertes.fr/search/",
        q=query.text,
        wt="json",
        rows=RESULT_COUNT,
        fl="title_s,abstract_s,authFullName_s,uri_s,doiId_s,publicationDateY_i",
    )


def _read_hal(row: dict[str, Any]) -> EngineResult | None:
    return make_row(
        row["title_s"][0],
        row["uri_s"],
        (row.get("abstract_s") or [""])[0],
        source="HAL",
        key=paper_key(row.get("doiId_s")),
        facts={
            "authors": join_authors(row.get("authFullName_s") or []),
            "year": row.get("publicationDateY_i"),
            "doi": row.get("doiId_s"),
        },
    )


HAL = make_source(
    "hal",
    "paper",
    _hal_url,
    json_parser(_read_hal, "response", "docs"),
    by_name=True,
    about="Papers in the French archive HAL.",
)


def _inspire_url(query: SearchQuery) -> str:
    fields = "titles,authors.full_name,abstracts,dois,publication_info,citation_count,arxiv_eprints,earliest_date"
    return url_with("https://inspirehep.net/api/literature", q=query.text, size=RESULT_COUNT, fields=fields)


def _read_inspire(row: dict[str, Any]) -> EngineResult | None:
    paper = row["metadata"]
    doi = next((one["value"] for one in paper.get("dois") or []), None)
    preprint = next((one["value"] for one in paper.get("arxiv_eprints") or []), None)
    date = str(paper.get("earliest_date") or "")
    journals = (one["journal_title"] for one in paper.get("publication_info") or [] if "journal_title" in one)
    return make_row(
        paper["titles"][0]["title"],
        f"https://inspirehep.net/literature/{quote(str(row['id']))}",
        next((one.get("value") for one in paper.get("abstracts") or []), ""),
        date=date,
        source=next(journals, None),
        key=f"arxiv:{preprint}" if preprint else paper_key(doi),
        facts={
            "authors": join_authors(given_name_first(one.get("full_name")) for one in paper.get("authors") or []),
            "year": date[:4],
            "doi": doi,
            "cited_by": paper.get("citation_count"),
        },
    )


INSPIRE = make_source(
    "inspire",
    "paper",
    _inspire_url,
    json_parser(_read_inspire, "hits", "hits"),
    by_name=True,
    about="Papers of high energy physics, with citations.",
)


def _zbmath_url(query: SearchQuery) -> str:
    return url_with(
        "https://api.zbmath.org/v1/document/_search", search_string=query.text, page=0, results_per_page=RESULT_COUNT
    )


def _read_zbmath(row: dict[str, Any]) -> EngineResult | None:
    links = {one["type"]: one["identifier"] for one in row.get("links") or []}
    authors = (row.get("contributors") or {}).get("authors") or []
    journals = (one.get("title") for one in (row.get("source") or {}).get("series") or [])
    return make_row(
        row["title"]["title"],
        row["zbmath_url"],
        next((one.get("text") for one in row.get("editorial_contributions") or []), ""),
        source=next(journals, None),
        key=f"arxiv:{links['arxiv']}" if "arxiv" in links else paper_key(links.get("doi")),
        facts={
            "authors": join_authors(given_name_first(one.get("name")) for one in authors),
            "year": row.get("year"),
            "doi": links.get("doi"),
        },
    )


ZBMATH = make_source(
    "zbmath",
    "paper",
    _zbmath_url,
    json_parser(_read_zbmath, "result"),
    by_name=True,
    about="Papers of mathematics, with reviews.",
)


def _eric_url(query: SearchQuery) -> str:
    fields = "id,title,author,description,source,publicationdateyear"
    return url_with("https://api.ies.ed.gov/eric/", search=query.text, format="json", rows=RESULT_COUNT, fields=fields)


def _read_eric(row: dict[str, Any]) -> EngineResult | None:
    return make_row(
        row["title"],
        f"https://eric.ed.gov/?id={quote(row['id'])}",
        row.get("description"),
        source=row.get("source"),
        key=f"eric:{row['id']}",
        facts={
            "authors": join_authors(given_name_first(name) for name in row.get("author") or []),
            "year": row.get("publicationdateyear"),
        },
    )


ERIC = make_source(
    "eric",
    "paper",
    _eric_url,
    json_parser(_read_eric, "response", "docs"),
    by_name=True,
    about="Papers and reports on education.",
)


def _osti_url(query: SearchQuery) -> str:
    return url_with("https://www.osti.gov/api/v1/records", q=query.text, rows=RESULT_COUNT)


_AFFILIATION = re.compile(r"\s*[\[(].*", re.DOTALL)
"""Institute and ORCID after the name of an author."""


def _read_osti(row: dict[str, Any]) -> EngineResult | None:
    names = (_AFFILIATION.sub("", name) for name in row.get("authors") or [])
    date = str(row.get("publication_date") or "")
    return make_row(
        row["title"],
        f"https://www.osti.gov/biblio/{quote(row['osti_id'])}",
        row.get("description"),
        date=date,
        source="OSTI",
        key=paper_key(row.get("doi")),
        facts={
            "authors": join_authors(given_name_first(name) for name in names),
            "year": date[:4],
            "doi": row.get("doi"),
            "type": clean_text(row.get("product_type")),
        },
    )


OSTI = make_source(
    "osti", "paper", _osti_url, json_parser(_read_osti), by_name=True, about="Reports and papers on energy research."
)


def _huggingface_url(query: SearchQuery) -> str:
    return url_with("https://huggingface.co/api/papers/search", q=query.text)


def _read_huggingface(row: dict[str, Any]) -> EngineResult | None:
    paper = row["paper"]
    date = str(paper.get("publishedAt") or "")
    return make_row(
        paper["title"],
        f"https://huggingface.co/papers/{quote(paper['id'])}",
        paper.get("summary"),
        date=date,
        source="Hugging Face",
        key=f"arxiv:{paper['id']}",
        facts={
            "authors": join_authors(one.get("name") for one in paper.get("authors") or []),
            "year": date[:4],
            "score": paper.get("upvotes"),
        },
    )


HUGGING_FACE = make_source(
    "huggingface",
    "paper",
    _huggingface_url,
    json_parser(_read_huggingface),
    by_name=True,
    about="Preprints on machine learning, with votes of readers.",
)

SOURCES = (DATACITE, DBLP, HAL, INSPIRE, ZBMATH, ERIC, OSTI, HUGGING_FACE)
