"""Recorded answers of sources, and the rows that a person reads in them. `recordings/index.toml` names their origin."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "recordings"
INDEX: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "index.toml").read_text(encoding="utf-8"))
"""Origin of each recording by source; `wikidata-maxlag` is a refusal."""
RECORDED: dict[str, str] = {name: (FOLDER / one["file"]).read_text(encoding="utf-8") for name, one in INDEX.items()}
"""Recorded answers by source."""
ROWS: dict[str, list[dict[str, Any]]] = tomllib.loads((FOLDER / "rows.toml").read_text(encoding="utf-8"))
"""Rows by source, in the order of the answer. The fields are those of `SearchResult`; `date` is a day."""
