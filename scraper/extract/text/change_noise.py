"""Recognize the parts of a page that change by themselves: ages, clocks, counts of visitors, ids of requests."""

from __future__ import annotations

import re

_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
_UNIT = r"(?:s|m|h|d|sec(?:ond)?s?|min(?:ute)?s?|hours?|hrs?|days?|weeks?|months?|years?)"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\.?)?(?:\s*(?:utc|gmt|ces?t|es?t|ps?t|edt|pdt|z))?"
_DAY = (
    r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,?\s+)?"
    rf"(?:\d{{4}}-\d\d-\d\d(?:t[\d:.]+(?:z|[+-]\d\d:?\d\d)?)?|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)?\s+{_MONTH},?\s+\d{{4}}|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}})"
)
_COUNT = r"\d[\d.,\u00a0]*(?:[km]|bn)?\+?"
_NOISE = re.compile(
    "|".join(
        (
            rf"(?:about |over |almost )?(?:\d+|an?|one|a few)\s*{_UNIT}(?:\s+(?:and\s+)?\d+\s*{_UNIT})*\s+ago\b",
            r"\bjust now\b",
            rf"\b(?:yesterday|today) at {_CLOCK}",
            # A word for an update is noise only with its time.
            r"(?:(?:last |recently )?(?:updated|modified|generated|retrieved|refreshed|checked|rendered)|as of|stand|"
            r"zuletzt (?:geändert|aktualisiert)|mis à jour)(?:\s+(?:on|at|in|le|am))?\s*:?\s*"
            rf"(?:{_DAY}(?:[ ,]+(?:at )?{_CLOCK})?|{_CLOCK})",
            rf"{_COUNT}\s*(?:page)?(?:views?|reads?|visits?|visitors?|likes?|shares?|upvotes?|votes?|points?|followers?|"
            r"subscribers?|comments?|replies|downloads|stars?|forks?|watchers?|users? online|members? online|online|"
            r"bookmarks?|reactions?|aufrufe|vues|kommentare|people (?:are )?(?:viewing|watching|looking))\b",
            rf"\b(?:views?|reads?|visits?|likes?|shares?|votes?|stars?|forks?|downloads|comments?|replies|followers|hits|"
            rf"aufrufe)\s*[:(]\s*{_COUNT}\)?",
            r"(?:generated|rendered|served|loaded) in\s*:?\s*\d[\d.,]*\s*(?:ms|s|sec|seconds?|milliseconds?)?",
            r"\b(?:request id|ray id|trace id|session(?: id)?|csrf|nonce)\s*[:#]?\s*(?=[\w.-]*\d)[\w.-]{6,}",
            r"(?:©|\(c\)|copyright)\s*(?:\d{4}\s*[-–]\s*)?\d{4}",
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?=[a-f]*\d)[0-9a-f]{16,}\b",
            rf"\b{_CLOCK}(?=\s*(?:remaining|left|until))|\bends in [\d :hms]+",
        )
    ),
    re.IGNORECASE,
)
_NOISE_WORD = re.compile(
    r"ago\b|\bnow\b|\b(?:today|yesterday) at|(?:upd|gener)ated|modified|retrieved|refreshed|checked|rendered|served|"
    r"loaded|as of|stand|zuletzt|mis à jour|views?\b|reads?\b|visit|likes?\b|shares?\b|votes?\b|points?\b|follower|"
    r"subscriber|comments?\b|replies|download|stars?\b|forks?\b|watch|online|bookmark|reaction|aufrufe|vues|kommentare|people|hits|"
    r"\bid\b|session|csrf|nonce|©|\(c\)|copyright|remaining|\bleft\b|until|ends in|[0-9a-f]{16}|[0-9a-f]{8}-",
    re.IGNORECASE,
)
"""A word without which no text is noise: it is found ten times faster."""
_LONE = re.compile(rf"\W*(?:{_DAY}|{_CLOCK}|{_COUNT})(?:[ ,]+{_CLOCK})?\W*", re.IGNORECASE)
"""A block that is only a date, a time or a number."""
_FURNITURE = re.compile(
    r"(?:edit|improve) (?:this|on)\b.{0,40}|share (?:this|on)\b.{0,30}|follow us\b.{0,30}|subscribe\b.{0,40}|"
    r"sign up\b.{0,30}|(?:you (?:may|might) also|related|recommended|trending|most (?:read|popular)|popular|"
    r"read (?:more|next))\b.{0,40}|(?:advertisement|sponsored|promoted|previous|next|table of contents)\W*",
    re.IGNORECASE,
)
"""A short block of the page's frame."""


def remove_noise(text: str) -> str:
    """Return the text without ages, clocks, counts and ids."""
    return _NOISE.sub(" ", text) if _NOISE_WORD.search(text) else text


def is_lone_value(text: str) -> bool:
    """Return True if a block is only a date, a time or a number."""
    return _LONE.fullmatch(text) is not None


def is_boilerplate(text: str) -> bool:
    """Return True if a short block belongs to the frame of the page, such as "Share this"."""
    return _FURNITURE.fullmatch(text) is not None
