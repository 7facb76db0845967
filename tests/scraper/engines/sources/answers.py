"""Made answers of sources in the format of their documentation, and what is read of them.

The sources that are missing here have recorded answers only.
"""

from __future__ import annotations

import json
from typing import Any

_DOI = "10.1/tide"

ANSWERS: dict[str, Any] = {
    "crossref": {
        "message": {
            "items": [
                {
                    "DOI": _DOI,
                    "URL": f"https://doi.org/{_DOI}",
                    "title": ["Tides &amp; <i>power</i>"],
                    "author": [{"given": name, "family": "Sea"} for name in ("Ann", "Bob", "Cy", "Dee")],
                    "issued": {"date-parts": [[2024, 5, 3]]},
                    "container-title": ["Ocean"],
                    "abstract": "<jats:p>Low water.</jats:p>",
                    "is-referenced-by-count": 7,
                }
            ]
        }
    },
    "europepmc": {
        "version": "6.9",
        "hitCount": 1,
        "nextCursorMark": "AoIIP4AAACg",
        "request": {"queryString": "tides", "resultType": "core", "cursorMark": "*", "pageSize": 10},
        "resultList": {
            "result": [
                {
                    "id": "123",
                    "source": "MED",
                    "pmid": "123",
                    "doi": _DOI,
                    "title": "Tides.",
                    "authorString": "Sea A, Sea B, Sea C, Sea D.",
                    "authorList": {"author": [{"fullName": "Sea A", "firstName": "Ann", "lastName": "Sea"}]},
                    "journalInfo": {
                        "issue": "5",
                        "volume": "12",
                        "journalIssueId": 4056427,
                        "dateOfPublication": "2024 May",
                        "yearOfPublication": 2024,
                        "journal": {"title": "Ocean", "medlineAbbreviation": "Ocean", "issn": "1111-2222"},
                    },
                    "pubYear": "2024",
                    "abstractText": "<h4>Aim</h4>Low water.",
                    "isOpenAccess": "Y",
                    "citedByCount": 3,
                    "firstPublicationDate": "2024-05-03",
                }
            ]
        },
    },
    "doaj": {
        "results": [
            {
                "id": "x1",
                "bibjson": {
                    "title": "Tides",
                    "year": "2024",
                    "author": [{"name": "Ann Sea"}],
                    "identifier": [{"type": "eissn", "id": "1111-2222"}, {"type": "DOI", "id": _DOI}],
                    "journal": {"title": "Ocean"},
                },
            }
        ]
    },
    "semanticscholar": {
        "total": 1,
        "data": [
            {
                "paperId": "p1",
                "title": "Tides",
                "year": 2024,
                "citationCount": 9,
                "authors": [{"name": "Ann Sea"}],
                "externalIds": {"ArXiv": "2401.00001", "DOI": _DOI},
            }
        ],
    },
    "openalex": {
        "meta": {"count": 1, "db_response_time_ms": 20, "page": 1, "per_page": 10, "groups_count": None},
        "results": [
            {
                "id": "https://openalex.org/W1",
                "doi": f"https://doi.org/{_DOI}",
                "title": "Tides",
                "display_name": "Tides",
                "publication_year": 2024,
                "publication_date": "2024-05-03",
                "cited_by_count": 2,
                "authorships": [{"author_position": "first", "author": {"display_name": "Ann Sea"}}],
                "primary_location": {"is_oa": True, "source": None},
                "abstract_inverted_index": {"Low": [0], "water": [1, 4], "after": [2], "high": [3]},
            }
        ],
        "group_by": [],
    },
    "github": {
        "items": [
            {
                "full_name": "ann/tides",
                "html_url": "https://github.com/ann/tides",
                "description": "Tide tables",
                "stargazers_count": 5,
                "language": "Rust",
                "license": {"spdx_id": "MIT"},
                "pushed_at": "2026-01-02T03:04:05Z",
            }
        ]
    },
    "gitlab": [
        {
            "id": 4,
            "description": None,
            "name": "Tides",
            "name_with_namespace": "Ann / Tides",
            "path": "tides",
            "path_with_namespace": "ann/tides",
            "created_at": "2023-09-30T13:46:02Z",
            "default_branch": "main",
            "tag_list": ["sea"],
            "topics": ["sea"],
            "web_url": "https://gitlab.com/ann/tides",
            "readme_url": "https://gitlab.com/ann/tides/-/blob/main/README.md",
            "avatar_url": None,
            "forks_count": 1,
            "star_count": 5,
            "last_activity_at": "2026-01-02T03:04:05.006Z",
            "namespace": {"id": 3, "name": "Ann", "path": "ann", "kind": "user"},
        }
    ],
    "codeberg": {
        "ok": True,
        "data": [{"full_name": "ann/tides", "html_url": "https://codeberg.org/ann/tides", "stars_count": 5}],
    },
    "crates": {
        "crates": [
            {
                "id": "tides",
                "name": "tides",
                "updated_at": "2026-01-02T03:04:05.678901+00:00",
                "versions": None,
                "keywords": None,
                "categories": None,
                "badges": None,
                "created_at": "2024-03-13T14:24:30.835625+00:00",
                "downloads": 10,
                "recent_downloads": 3,
                "max_version": "2.0.0-rc.1",
                "newest_version": "2.0.0-rc.1",
                "max_stable_version": "1.2.0",
                "description": "Tide tables",
                "homepage": None,
                "documentation": None,
                "repository": "https://github.com/ann/tides",
                "exact_match": True,
            }
        ],
        "meta": {"total": 1, "next_page": None, "prev_page": None},
    },
    "rubygems": [
        {
            "name": "tides",
            "info": "Tide tables",
            "version": "1.2.0",
            "downloads": 10,
            "licenses": ["MIT"],
            "project_uri": "https://rubygems.org/gems/tides",
        }
    ],
    "packagist": {
        "results": [
            {"name": "ann/tides", "url": "https://packagist.org/packages/ann/tides", "downloads": 10, "favers": 2}
        ]
    },
    "ecosystems": [
        {
            "name": "tides",
            "ecosystem": "go",
            "registry_url": "https://pkg.go.dev/tides",
            "latest_release_number": "v1.2.0",
            "normalized_licenses": ["MIT"],
        }
    ],
    "stackexchange": {
        "items": [
            {
                "title": "How do &quot;tides&quot; work?",
                "link": "https://stackoverflow.com/questions/42/how-do-tides-work",
                "tags": ["tides"],
                "score": 8,
                "answer_count": 2,
                "is_answered": True,
                "creation_date": 1_700_000_000,
            }
        ],
        "quota_remaining": 299,
    },
    "hackernews": {
        "hits": [
            {
                "objectID": "9",
                "title": "Tides",
                "url": "https://a.example/",
                "points": 3,
                "num_comments": 1,
                "author": "ann",
            }
        ]
    },
    "gdelt": {
        "articles": [
            {
                "url": "https://news.example/1",
                "url_mobile": "",
                "title": "Tides",
                "seendate": "20260102T030405Z",
                "socialimage": "https://news.example/1.jpg",
                "domain": "news.example",
                "language": "English",
                "sourcecountry": "United States",
            }
        ]
    },
    "peertube": {
        "total": 1,
        "data": [
            {
                "uuid": "1",
                "name": "Tides",
                "description": None,
                "publishedAt": "2026-01-02T18:30:02.000Z",
                "duration": 65,
                "views": 3,
                "url": "https://video.example/w/1",
                "account": {"name": "ann", "displayName": "Ann"},
                "channel": {"name": "sea", "displayName": "The sea", "host": "video.example"},
            }
        ],
    },
    "wikipedia": {"query": {"search": [{"title": "Tidal power", "pageid": 1, "snippet": "<span>Tidal</span> power"}]}},
    "wikidata": {
        "searchinfo": {"search": "tide"},
        "search": [
            {
                "id": "Q1",
                "title": "Q1",
                "pageid": 1,
                "display": {"label": {"value": "tide", "language": "en"}},
                "repository": "wikidata",
                "url": "//www.wikidata.org/wiki/Q1",
                "concepturi": "http://www.wikidata.org/entity/Q1",
                "label": "tide",
                "description": "rise and fall of the sea",
                "match": {"type": "label", "language": "en", "text": "tide"},
            }
        ],
        "success": 1,
    },
    "wiktionary": {"query": {"search": [{"title": "tide", "pageid": 1, "snippet": "The sea"}]}},
    "openlibrary": {
        "numFound": 1,
        "start": 0,
        "numFoundExact": True,
        "num_found": 1,
        "documentation_url": "https://openlibrary.org/dev/docs/api/search",
        "q": "tides",
        "offset": None,
        "docs": [
            {
                "author_name": ["Ann Sea"],
                "edition_count": 4,
                "first_publish_year": 1999,
                "key": "/works/OL1W",
                "title": "Tides",
            }
        ],
    },
    "internetarchive": {"response": {"docs": [{"identifier": "tides", "title": "Tides", "creator": "Ann Sea"}]}},
}

_ARXIV = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">
<title type="html">ArXiv Query: search_query=all:tides&amp;start=0&amp;max_results=10</title><id>http://arxiv.org/api/a</id>
<opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">1</opensearch:totalResults>
<opensearch:itemsPerPage xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">10</opensearch:itemsPerPage><entry>
<id>http://arxiv.org/abs/2401.00001v2</id><published>2024-01-01T00:00:00Z</published><title>Tides</title>
<summary>Low water.</summary><author><name>Ann Sea</name></author></entry></feed>"""
_YOUTUBE = {
    "contents": {
        "twoColumnSearchResultsRenderer": {
            "primaryContents": {
                "sectionListRenderer": {
                    "contents": [
                        {
                            "itemSectionRenderer": {
                                "contents": [
                                    {"adSlotRenderer": {}},
                                    {
                                        "videoRenderer": {
                                            "videoId": "abc",
                                            "title": {"runs": [{"text": "Ti"}, {"text": "des"}]},
                                            "ownerText": {"runs": [{"text": "Ann"}]},
                                            "lengthText": {"simpleText": "3:21"},
                                        }
                                    },
                                ]
                            }
                        },
                        {"continuationItemRenderer": {}},
                    ]
                }
            }
        }
    }
}

BODIES: dict[str, str] = {name: json.dumps(answer) for name, answer in ANSWERS.items()} | {
    "arxiv": _ARXIV,
    "youtube": f"<html><script>var ytInitialData = {json.dumps(_YOUTUBE)};</script></html>",
}

EXPECTED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "arxiv": ("Tides", "https://arxiv.org/abs/2401.00001v2", {"authors": "Ann Sea", "year": "2024"}),
    "crossref": (
        "Tides & power",
        f"https://doi.org/{_DOI}",
        {"authors": "Ann Sea, Bob Sea, Cy Sea et al.", "year": 2024, "doi": _DOI, "cited_by": 7},
    ),
    "europepmc": (
        "Tides.",
        "https://europepmc.org/article/MED/123",
        {"authors": "Sea A, Sea B, Sea C et al.", "doi": _DOI, "pmid": "123", "cited_by": 3},
    ),
    "doaj": ("Tides", f"https://doi.org/{_DOI}", {"authors": "Ann Sea", "doi": _DOI}),
    "semanticscholar": ("Tides", "https://www.semanticscholar.org/paper/p1", {"cited_by": 9, "year": 2024}),
    "openalex": ("Tides", f"https://doi.org/{_DOI}", {"authors": "Ann Sea", "cited_by": 2}),
    "github": ("ann/tides", "https://github.com/ann/tides", {"stars": 5, "language": "Rust", "license": "MIT"}),
    "gitlab": ("ann/tides", "https://gitlab.com/ann/tides", {"stars": 5}),
    "codeberg": ("ann/tides", "https://codeberg.org/ann/tides", {"stars": 5}),
    "crates": ("tides", "https://crates.io/crates/tides", {"version": "1.2.0", "downloads": 10}),
    "rubygems": ("tides", "https://rubygems.org/gems/tides", {"version": "1.2.0", "license": "MIT"}),
    "packagist": ("ann/tides", "https://packagist.org/packages/ann/tides", {"downloads": 10, "stars": 2}),
    "ecosystems": ("tides", "https://pkg.go.dev/tides", {"version": "v1.2.0", "license": "MIT"}),
    "stackexchange": (
        'How do "tides" work?',
        "https://stackoverflow.com/questions/42/how-do-tides-work",
        {"score": 8, "answers": 2, "answered": "yes"},
    ),
    "hackernews": ("Tides", "https://news.ycombinator.com/item?id=9", {"score": 3, "comments": 1}),
    "gdelt": ("Tides", "https://news.example/1", {"language": "English", "country": "United States"}),
    "peertube": ("Tides", "https://video.example/w/1", {"duration": "1:05", "views": 3}),
    "youtube": ("Tides", "https://www.youtube.com/watch?v=abc", {"duration": "3:21"}),
    "wikipedia": ("Tidal power", "https://de.wikipedia.org/wiki/Tidal_power", {}),
    "wikidata": ("tide", "https://www.wikidata.org/wiki/Q1", {}),
    "wiktionary": ("tide", "https://de.wiktionary.org/wiki/tide", {}),
    "openlibrary": ("Tides", "https://openlibrary.org/works/OL1W", {"authors": "Ann Sea", "year": 1999}),
    "internetarchive": ("Tides", "https://archive.org/details/tides", {"authors": "Ann Sea"}),
}
"""Title, URL and facts of the first row by source."""
