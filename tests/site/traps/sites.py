"""All made sites with traps."""

from __future__ import annotations

from tests.site.traps.addresses import Languages, Parameters, PathSessions, Redirects, RefreshStubs, Sessions, Versions
from tests.site.traps.endless import Calendar, Facets, HiddenMaze, Paging, SoftMissing, VisibleMaze
from tests.site.traps.made_site import MadeSite
from tests.site.traps.mixtures import GrowingMaze, ListedNavigation, PartlyDeadSitemap, TrailingSessions, Wiki
from tests.site.traps.ordinary import DeadSitemap, Deep, Faults, FaultySitemaps, Forum, Robots
from tests.site.traps.programs import Blog, Board, Encyclopedia, FilteredShop, TranslatedNames

TRAP_SITES: tuple[type[MadeSite], ...] = (
    Calendar,
    Facets,
    Sessions,
    SoftMissing,
    Paging,
    Parameters,
    Languages,
    Redirects,
    Faults,
    Robots,
    FaultySitemaps,
    HiddenMaze,
    Versions,
    Forum,
    Deep,
)
"""Fifteen traps that occur on the web."""
HARD_SITES: tuple[type[MadeSite], ...] = (
    RefreshStubs,
    DeadSitemap,
    VisibleMaze,
    PathSessions,
    GrowingMaze,
    PartlyDeadSitemap,
    ListedNavigation,
    TrailingSessions,
    Wiki,
)
"""Nine mixtures on which guards against traps are easily weak."""
PROGRAM_SITES: tuple[type[MadeSite], ...] = (Blog, Board, FilteredShop, TranslatedNames, Encyclopedia)
"""Five sites with the habits of common programs."""
