"""Sources of code and packages: GitHub, GitLab, Codeberg, package indexes and Docker Hub."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from scraper.engines.model import EngineResult, SearchQuery
from scraper.engines.sources.source_builder import RESULT_COUNT, json_parser, make_row, make_source, url_with


def _repository_key(url: object) -> str:
    return f"repository:{str(url).removeprefix('https://').rstrip('/')}"


def _github_url(query: SearchQuery) -> str:
    return url_with("https://api.github.com/search/repositories", q=query.text, per_page=RESULT_COUNT)


def _read_github(row: dict[str, Any]) -> EngineResult | None:
    return make_row(
        row["full_name"],
        row["html_url"],
        row.get("description"),
        date=row.get("pushed_at") or row.get("updated_at"),
        source="GitHub",
        key=_repository_key(row["html_url"]),
        facts={
            "stars": row.get("stargazers_count"),
            "language": row.get("language"),
            "license": (row.get("license") or {}).get("spdx_id"),
        },
    )


GITHUB = make_source(
    "github", "code", _github_url, json_parser(_read_github, "items"), about="Repositories on GitHub.", spacing_s=6.0
)


def _gitlab_url(query: SearchQuery) -> str:
    return url_with(
        "https://gitlab.com/api/v4/projects", search=query.text, per_page=RESULT_COUNT, order_by="star_count"
    )


def _read_gitlab(row: dict[str, Any]) -> EngineResult | None:
    return make_row(
        row["path_with_namespace"],
        row["web_url"],
        row.get("description"),
        date=row.get("last_activity_at"),
        source="GitLab",
        key=_repository_key(row["web_url"]),
        facts={"stars": row.get("star_count"), "forks": row.get("forks_count")},
    )


GITLAB = make_source("gitlab", "code", _gitlab_url, json_parser(_read_gitlab), about="Repositories on GitLab.")


def _codeberg_url(query: SearchQuery) -> str:
    return url_with(
        "https://codeberg.org/api/v1/repos/search", q=query.text, limit=RESULT_COUNT, sort="stars", order="desc"
    )


def _read_codeberg(row: dict[str, Any]) -> EngineResult | None:
    return make_row(
        row["full_name"],
        row["html_url"],
        row.get("description"),
        date=row.get("updated_at"),
        source="Codeberg",
        key=_repository_key(row["html_url"]),
        facts={"stars": row.get("stars_count"), "language": row.get("language"), "forks": row.get("forks_count")},
    )


CODEBERG = make_source(
    "codeberg", "code", _codeberg_url, json_parser(_read_codeberg, "data"), about="Repositories on Codeberg."
)


def _crates_url(query: SearchQuery) -> str:
    return url_with("https://crates.io/api/v1/crates", q=query.text, per_page=RESULT_COUNT)


def _read_crate(row: dict[str, Any]) -> EngineResult | None:
    return make_row(
        row["name"],
        f"https://crates.io/crates/{quote(row['name'])}",
        row.get("description"),
        date=row.get("updated_at"),
        source="crates.io",
        key=f"package:cargo/{row['name']}",
        facts={"version": row.get("max_stable_version") or row.get("max_version"), "downloads": row.get("downloads")},
    )


CRATES = make_source(
    "crates", "package", _crates_url, json_parser(_read_crate, "crates"), about="Packages for Rust.", identifies=True
)


def _rubygems_url(query: SearchQuery) -> str:
    return url_with("https://rubygems.org/api/v1/search.json", query=query.text)


def _read_gem(row: dict[str, Any]) -> EngineResult | None:
    return make_row(
        row["name"],
        row.get("project_uri") or f"https://rubygems.org/gems/{quote(row['name'])}",
        row.get("info"),
        date=row.get("version_created_at"),
        source="RubyGems",
        key=f"package:gem/{row['name']}",
        facts={
            "version": row.get("version"),
            "downloads": row.get("downloads"),
            "license": ", ".join(row.get("licenses") or []),
        },
    )


RUBYGEMS = make_source("rubygems", "package", _rubygems_url, json_parser(_read_gem), about="Packages for Ruby.")


def _packagist_url(query: SearchQuery) -> str:
    return url_with("https://packagist.org/search.json", q=query.text, per_page=RESULT_COUNT)


def _read_packagist(row: dict[str, Any]) -> EngineResult | None:
    return make_row(
        row["name"],
        row["url"],
        row.get("description"),
        source="Packagist",
        key=f"package:composer/{row['name']}",
        facts={"downloads": row.get("downloads"), "stars": row.get("favers")},
    )


PACKAGIST = make_source(
    "packagist", "package", _packagist_url, json_parser(_read_packagist, "results"), about="Packages for PHP."
)


def _nuget_url(query: SearchQuery) -> str:
    return url_with("https://azuresearch-usnc.nuget.org/query", q=query.text, take=RESULT_COUNT)


def _read_nuget(row: dict[str, Any]) -> EngineResult | None:
    return make_row(
        row["id"],
        f"https://www.nuget.org/packages/{quote(row['id'])}",
        row.get("description"),
        source="NuGet",
        key=f"package:nuget/{row['id']}",
        facts={"version": row.get("version"), "downloads": row.get("totalDownloads")},
    )


NUGET = make_source(
    "nuget", "package", _nuget_url, json_parser(_read_nuget, "data"), by_name=True, about="Packages for .NET."
)


def _dockerhub_url(query: SearchQuery) -> str:
    return url_with("https://hub.docker.com/v2/search/repositories/", query=query.text, page_size=RESULT_COUNT)


def _read_dockerhub(row: dict[str, Any]) -> EngineResult | None:
    name = row["repo_name"]
    path = f"r/{quote(name)}" if "/" in name else f"_/{quote(name)}"
    return make_row(
        name,
        f"https://hub.docker.com/{path}",
        row.get("short_description"),
        source="Docker Hub",
        key=f"package:docker/{name}",
        facts={
            "stars": row.get("star_count"),
            "downloads": row.get("pull_count"),
            "official": row.get("is_official") or None,
        },
    )


DOCKER_HUB = make_source(
    "dockerhub", "package", _dockerhub_url, json_parser(_read_dockerhub, "results"), about="Container images."
)


def _ecosystems_url(query: SearchQuery) -> str:
    return url_with("https://packages.ecosyste.ms/api/v1/packages/lookup", name=query.text)


def _read_ecosystems(row: dict[str, Any]) -> EngineResult | None:
    return make_row(
        row["name"],
        row.get("registry_url") or row.get("repository_url") or row.get("homepage"),
        row.get("description"),
        date=row.get("latest_release_published_at"),
        source=row.get("ecosystem"),
        key=f"package:{row.get('ecosystem')}/{row['name']}",
        facts={
            "version": row.get("latest_release_number"),
            "downloads": row.get("downloads"),
            "license": ", ".join(row.get("normalized_licenses") or []) or row.get("licenses"),
        },
    )


ECOSYSTEMS = make_source(
    "ecosystems",
    "package",
    _ecosystems_url,
    json_parser(_read_ecosystems),
    about="Packages with exactly this name in the indexes of all languages, those of Python, Node and Go included.",
)

SOURCES = (GITHUB, GITLAB, CODEBERG, CRATES, RUBYGEMS, PACKAGIST, NUGET, DOCKER_HUB, ECOSYSTEMS)
