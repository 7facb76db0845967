"""Sources of papers: arXiv, Crossref, Europe PMC, DOAJ, Semantic Scholar, OpenAlex."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from scraper.engines.model import EngineKind, EngineResult, SearchQuery
from scraper.engines.sources.source_builder import (
    RESULT_COUNT,
    atom_parser,
    child_text,
    children,
    clean_text,
    join_authors,
    json_parser,
    make_row,
    make_source,
    url_with,
)
from scraper.html.dom.xpath import Element

_ARXIV = "{http://arxiv.org/schemas/atom}"
_ARXIV_ERROR = "/api/errors"
_ARXIV_ID = re.compile(r"/abs/(.+?)(?:v\d+)?$")
_MAX_PLACES = 1_000
"""Places of one word in an abstract."""
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)", re.IGNORECASE)


def paper_key(doi: object) -> str:
    """Return the key of a paper by its DOI; the DOI of an arXiv preprint gives the key of its arXiv ID."""
    text = str(doi or "").removeprefix("https://doi.org/")
    preprint = _ARXIV_DOI.fullmatch(text)
    return f"arxiv:{preprint[1]}" if preprint else f"doi:{text}" if text else ""


def _arxiv_url(query: SearchQuery) -> str:
    words = " AND ".join(f"all:{word}" for word in re.findall(r"\w+", query.text)[:12])
    return url_with("https://export.arxiv.org/api/query", search_query=words, max_results=RESULT_COUNT)


def _read_arxiv(entry: Element) -> EngineResult | None:
    address = child_text(entry, "id").replace("http://", "https://")
    if _ARXIV_ERROR in address:
        # A query that arXiv rejects is answered with one entry, which describes the error.
        return None
    identifier = _ARXIV_ID.search(address)
    published = child_text(entry, "published")
    return make_row(
        child_text(entry, "title"),
        address,
        child_text(entry, "summary"),
        date=published,
        source="arXiv",
        key=f"arxiv:{identifier[1]}" if identifier else "",
        facts={
            "authors": join_authors(child_text(author, "name") for author in children(entry, "author")),
            "year": published[:4],
            "doi": (entry.findtext(f"{_ARXIV}doi") or "").strip(),
        },
    )


ARXIV = make_source(
    "arxiv",
    "paper",
    _arxiv_url,
    atom_parser(_read_arxiv),
    about="Preprints of physics, mathematics and computer science.",
    kind=EngineKind.ATOM,
    spacing_s=3.0,
)


_CROSSREF_TYPES = (
    "journal-article proceedings-article posted-content book book-chapter monograph dissertation report dataset"
).split()
"""Types of works that are searched. Without them, figures and tables of papers are found, which have their own DOI."""


def _crossref_url(query: SearchQuery) -> str:
    return url_with(
        "https://api.crossref.org/works",
        query=query.text,
        filter=",".join(f"type:{name}" for name in _CROSSREF_TYPES),
        rows=RESULT_COUNT,
        mailto=query.contact,
    )


def _read_crossref(row: dict[str, Any]) -> EngineResult | None:
    parts = ((row.get("issued") or {}).get("date-parts") or [[None]])[0]
    names = (f"{one.get('given', '')} {one.get('family', one.get('name', ''))}" for one in row.get("author") or [])
    doi = row.get("DOI")
    return make_row(
        (row.get("title") or [""])[0],
        row.get("URL") or f"https://doi.org/{doi}",
        row.get("abstract"),
        date="-".join(f"{part:02d}" for part in parts) if len(parts) == 3 and all(parts) else None,
        source=clean_text((row.get("container-title") or [""])[0]) or None,
        key=paper_key(doi),
        facts={
            "authors": join_authors(names),
            "year": parts[0] if parts else None,
            "doi": doi,
            "cited_by": row.get("is-referenced-by-count"),
        },
    )


CROSSREF = make_source(
    "crossref",
    "paper",
    _crossref_url,
    json_parser(_read_crossref, "message", "items"),
    about="Papers of all publishers, with DOI and citations.",
)


def _europepmc_url(query: SearchQuery) -> str:
    return url_with(
        "https://www.ebi.ac.uk/europepmc/webservices/rest/search",
        query=query.text,
        format="json",
        resultType="core",
        pageSize=RESULT_COUNT,
        email=query.contact,
    )


def _read_europepmc(row: dict[str, Any]) -> EngineResult | None:
    doi = row.get("doi")
    return make_row(
        row.get("title"),
        f"https://europepmc.org/article/{row['source']}/{row['id']}",
        row.get("abstractText"),
        date=row.get("firstPublicationDate"),
        # Only short rows (`resultType=lite`) have `journalTitle`.
        source=clean_text(row.get("journalTitle") or _journal(row)) or None,
        key=paper_key(doi),
        facts={
            "authors": join_authors((row.get("authorString") or "").rstrip(".").split(", ")),
            "year": row.get("pubYear") or str(row.get("firstPublicationDate") or "")[:4],
            "doi": doi,
            "pmid": row.get("pmid"),
            "cited_by": row.get("citedByCount"),
        },
    )


def _journal(row: dict[str, Any]) -> object:
    return ((row.get("journalInfo") or {}).get("journal") or {}).get("title")


EUROPE_PMC = make_source(
    "europepmc",
    "paper",
    _europepmc_url,
    json_parser(_read_europepmc, "resultList", "result"),
    about="Papers of medicine and biology, with those of PubMed.",
)


def _doaj_url(query: SearchQuery) -> str:
    return url_with(f"https://doaj.org/api/search/articles/{quote(query.text, safe='')}", pageSize=RESULT_COUNT)


def _read_doaj(row: dict[str, Any]) -> EngineResult | None:
    paper = row["bibjson"]
    doi = next((one.get("id") for one in paper.get("identifier") or [] if str(one.get("type")).lower() == "doi"), None)
    link = next((one.get("url") for one in paper.get("link") or [] if one.get("url")), None)
    return make_row(
        paper.get("title"),
        link or (f"https://doi.org/{doi}" if doi else f"https://doaj.org/article/{row['id']}"),
        paper.get("abstract"),
        source=clean_text((paper.get("journal") or {}).get("title")) or None,
        key=paper_key(doi),
        facts={
            "authors": join_authors(one.get("name") for one in paper.get("author") or []),
            "year": paper.get("year"),
            "doi": doi,
        },
    )


DOAJ = make_source(
    "doaj",
    "paper",
    _doaj_url,
    json_parser(_read_doaj, "results"),
    by_name=True,
    about="Articles of open access journals.",
)


def _semantic_scholar_url(query: SearchQuery) -> str:
    fields = "title,abstract,url,year,venue,citationCount,authors,externalIds,publicationDate"
    return url_with(
        "https://api.semanticscholar.org/graph/v1/paper/search", query=query.text, limit=RESULT_COUNT, fields=fields
    )


def _read_semantic_scholar(row: dict[str, Any]) -> EngineResult | None:
    identifiers = row.get("externalIds") or {}
    doi, preprint = identifiers.get("DOI"), identifiers.get("ArXiv")
    return make_row(
        row.get("title"),
        row.get("url") or f"https://www.semanticscholar.org/paper/{row['paperId']}",
        row.get("abstract"),
        date=row.get("publicationDate"),
        source=clean_text(row.get("venue")) or None,
        key=f"arxiv:{preprint}" if preprint else paper_key(doi),
        facts={
            "authors": join_authors(one.get("name") for one in row.get("authors") or []),
            "year": row.get("year"),
            "doi": doi,
            "cited_by": row.get("citationCount"),
        },
    )


SEMANTIC_SCHOLAR = make_source(
    "semanticscholar",
    "paper",
    _semantic_scholar_url,
    # A search without any paper has no key `data`.
    json_parser(_read_semantic_scholar, "data", empty={"total": 0}),
    by_name=True,
    about="Papers with citations; often allows no more requests without a key.",
    spacing_s=3.0,
)


def _openalex_url(query: SearchQuery) -> str:
    return url_with(
        "https://api.openalex.org/works", search=query.text, **{"per-page": RESULT_COUNT}, mailto=query.contact
    )


def _read_openalex(row: dict[str, Any]) -> EngineResult | None:
    location = row.get("primary_location") or {}
    names = ((one.get("author") or {}).get("display_name") for one in row.get("authorships") or [])
    return make_row(
        row.get("title") or row.get("display_name"),
        row.get("doi") or row.get("id"),
        _join_abstract(row.get("abstract_inverted_index")),
        date=row.get("publication_date"),
        source=clean_text((location.get("source") or {}).get("display_name")) or None,
        key=paper_key(row.get("doi")),
        facts={
            "authors": join_authors(names),
            "year": row.get("publication_year"),
            "doi": (row.get("doi") or "").removeprefix("https://doi.org/"),
            "cited_by": row.get("cited_by_count"),
        },
    )


def _join_abstract(places: object) -> str:
    """Return the abstract, which OpenAlex sends as the places of each word."""
    if not isinstance(places, dict):
        return ""
    words = sorted((at, word) for word, numbers in places.items() for at in numbers[:_MAX_PLACES])
    return " ".join(word for _, word in words)


OPENALEX = make_source(
    "openalex",
    "paper",
    _openalex_url,
    json_parser(_read_openalex, "results"),
    by_name=True,
    about="Papers with citations; allows few requests a day without a key.",
)

SOURCES = (ARXIV, CROSSREF, EUROPE_PMC, DOAJ, SEMANTIC_SCHOLAR, OPENALEX)
