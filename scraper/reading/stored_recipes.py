"""Store the recipes of each principal, so that later calls can name them by their id."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence

from scraper import errors
from scraper.store.record_logs import RecordExistsError, RecordLogs, RecordsUnavailableError, StoredRecord

MAX_RECIPES = 200
"""Recipes of one principal. Above this, the oldest ones are deleted."""
_LOG = "recipes"
_ID_CHARACTERS = 12
RECIPE_ID = re.compile(f"[0-9a-f]{{{_ID_CHARACTERS}}}")
"""Form of an id."""
_MAX_TRIES = 5
"""Attempts to append while other calls do the same."""


class StoredRecipes:
    """Recipes in a record log of each principal."""

    def __init__(self, records: RecordLogs) -> None:
        """Use the record logs of the store."""
        self._records = records

    async def save(self, principal: str, recipe: str) -> str:
        """Store a recipe and return it with its id; return it unchanged if the store is unavailable."""
        recipe_id = hashlib.sha256(recipe.encode("utf-8", "replace")).hexdigest()[:_ID_CHARACTERS]
        named = f'{{"id":"{recipe_id}",{recipe[1:]}'
        try:
            known = await self._records.read(principal, _LOG)
            if _find(known, recipe_id) is None:
                await self._append(principal, known, named)
        except RecordsUnavailableError:
            return recipe
        return named

    async def _append(self, principal: str, records: Sequence[StoredRecord], recipe: str) -> None:
        number = records[-1].number if records else 0
        for _ in range(_MAX_TRIES):
            number += 1
            try:
                await self._records.append(principal, _LOG, number, recipe.encode("utf-8", "replace"))
            except RecordExistsError:
                continue
            break
        if len(records) >= MAX_RECIPES:
            await self._records.delete(principal, _LOG, below=number - MAX_RECIPES + 1)

    async def load(self, principal: str, recipe: str) -> str:
        """Return a recipe; one that consists of an id only is read from the store.

        Raises:
            InvalidArgumentError: The principal has no recipe with this id.
        """
        recipe_id = id_of(recipe)
        if not recipe_id:
            return recipe
        try:
            found = _find(await self._records.read(principal, _LOG), recipe_id)
        except RecordsUnavailableError:
            found = None
        if found is None:
            raise errors.InvalidArgumentError(
                f"There is no stored recipe {recipe_id[:40]}: give the whole recipe, or one example again.",
                target="recipe",
            )
        return found


def id_of(recipe: str) -> str:
    """Return the id of a recipe that consists of nothing else; an empty string for any other one."""
    data = json.loads(recipe) if recipe else {}
    is_id = set(data) == {"id"} and isinstance(data["id"], str)
    return str(data["id"]) if is_id else ""


def _find(records: Sequence[StoredRecord], recipe_id: str) -> str | None:
    texts = (one.data.decode("utf-8") for one in records)
    return next((text for text in texts if text.startswith(f'{{"id":{json.dumps(recipe_id)},')), None)
