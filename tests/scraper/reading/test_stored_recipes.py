"""Recipes that calls can name by their id."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from scraper.errors import InvalidArgumentError
from scraper.reading.fields import MAX_RECIPES, StoredRecipes
from scraper.store.protocols import DatabaseUnavailableError
from scraper.store.record_logs import StoredRecord
from scraper.store.sqlite.record_logs import open_record_logs


def recipe(number: int) -> str:
    return json.dumps({"version": 2, "host": f"{number}.example", "fields": {}}, separators=(",", ":"))


def id_in(text: str) -> str:
    return json.dumps({"id": json.loads(text)["id"]})


async def test_a_recipe_is_stored_once_and_found_by_its_owner(tmp_path: Path) -> None:
    records = open_record_logs(tmp_path)
    recipes = StoredRecipes(records)
    first, again = await recipes.save("ann", recipe(1)), await recipes.save("ann", recipe(1))
    assert first == again and json.loads(first) | {"id": ""} == json.loads(recipe(1)) | {"id": ""}
    assert len(await records.read("ann", "recipes")) == 1
    assert await recipes.load("ann", id_in(first)) == first
    assert await recipes.load("ann", recipe(2)) == recipe(2) and await recipes.load("ann", "") == ""
    with pytest.raises(InvalidArgumentError, match="no stored recipe"):
        await recipes.load("ben", id_in(first))
    await records.close()


async def test_the_oldest_recipes_are_deleted_and_concurrent_ones_are_kept(tmp_path: Path) -> None:
    records = open_record_logs(tmp_path)
    recipes = StoredRecipes(records)
    saved = [await recipes.save("ann", recipe(number)) for number in range(MAX_RECIPES + 3)]
    assert len(await records.read("ann", "recipes")) == MAX_RECIPES
    with pytest.raises(InvalidArgumentError):
        await recipes.load("ann", id_in(saved[0]))
    assert await recipes.load("ann", id_in(saved[-1])) == saved[-1]
    both = await asyncio.gather(*(recipes.save("ben", recipe(number)) for number in range(3)))
    assert [await recipes.load("ben", id_in(one)) for one in both] == both
    await records.close()


class NoRecords:
    """Fake record logs of a store that is unavailable."""

    async def read(self, principal: str, log: str) -> list[StoredRecord]:
        raise DatabaseUnavailableError


async def test_without_a_store_recipes_have_no_id() -> None:
    recipes = StoredRecipes(NoRecords())  # type: ignore[arg-type]
    assert await recipes.save("ann", recipe(1)) == recipe(1)
    with pytest.raises(InvalidArgumentError):
        await recipes.load("ann", '{"id": "a"}')
