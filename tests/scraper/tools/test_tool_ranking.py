"""What people say they want leads to the tool for it."""

from __future__ import annotations

import pytest

from scraper.settings import Settings
from scraper.tools import registry
from scraper.tools.prompts import prompts_for
from scraper.tools.tool_search import SearchableItem, rank_items, read_uses, searchable_prompt, searchable_tool

TOOLS = registry.tools(Settings(toolsets=("all",)))
OFFERS = [searchable_tool(tool) for tool in TOOLS]
PROMPTS = prompts_for(TOOLS)

WANTED = {
    "search the web": "search",
    "find recent articles about electric cars": "search",
    "google something": "search",
    "open a link and read it": "fetch",
    "download the content of a website": "fetch",
    "scrape a page built with javascript": "fetch",
    "read ten urls in parallel": "fetch_batch",
    "read a pdf file": "read_doc",
    "open an excel spreadsheet": "read_doc",
    "parse docx": "read_doc",
    "pdf": "read_doc",
    "save a page as pdf": "see",
    "answer a question with sources and citations": "research",
    "write a report about a topic": "research",
    "compare two phones side by side": "compare",
    "which is better, A versus B": "compare",
    "list all pages of a website": "map",
    "read the whole documentation of a site": "crawl",
    "what changed on this page since last week": "changes",
    "take a screenshot of a page": "see",
    "price and availability of a product": "extract_structured",
    "get the json-ld metadata": "extract_structured",
    "ingredients of a recipe": "extract_structured",
    "what did I read earlier about turbines": "cache_search",
    "which search engines are available": "engines",
    "search with duckduckgo": "web_search",
    "quick definition of a word": "instant_answer",
    "save a note for later": "search_add_document",
    "store a text snippet in memory": "search_add_document",
    "search my own notes": "search_index",
    "make a new knowledge base": "search_create_index",
    "extrakt structued data": "extract_structured",
    "reserch a qustion": "research",
    "fetch_batch": "fetch_batch",
    "discover which tool can do it": "find_tools",
    "find cheap flights articles": "search",
    "what are the newest reports about lithium batteries": "search",
    "search arxiv for transformers": "search",
    "who won the election": "search",
    "show me the text behind this link": "fetch",
    "I want to read https://a.org/x.html": "fetch",
    "which sentence of the page gives the warranty period": "fetch",
    "load a react app and return its text": "fetch",
    "get the contents of these five links at once": "fetch_batch",
    "read all of these articles": "fetch_batch",
    "open multiple web pages together": "fetch_batch",
    "what is written on page 7 of the annual report pdf": "read_doc",
    "convert a docx to text": "read_doc",
    "transcript of a youtube video": "read_doc",
    "read the powerpoint deck": "read_doc",
    "open an epub": "read_doc",
    "write a briefing with references on carbon capture": "research",
    "find out with citations why bees die": "research",
    "answer my question from the web with sources": "research",
    "how do these two phones differ": "compare",
    "do the two reports contradict each other": "compare",
    "put the specs of both laptops next to each other": "compare",
    "show the sitemap of a domain": "map",
    "what pages are under /docs": "map",
    "find all links of a site": "map",
    "which page of python.org explains decorators": "map",
    "download the entire manual": "crawl",
    "go through every page of the website": "crawl",
    "spider the site and keep the text": "crawl",
    "has the price been updated since yesterday": "changes",
    "tell me what is different from the last visit": "changes",
    "monitor terms of service": "changes",
    "capture the homepage visually": "see",
    "what does the chart look like": "see",
    "export the page to pdf": "see",
    "tick the box and send the form": "browse",
    "sign in with my account": "browse",
    "click on load more": "browse",
    "book a table": "browse",
    "rating and number of reviews of a hotel as json": "extract_structured",
    "opening hours and phone as fields": "extract_structured",
    "turn the listing into rows": "extract_structured",
    "author and publication date of an article": "extract_structured",
    "open graph tags": "extract_structured",
    "I read it some days ago, which page was it": "cache_search",
    "search pages I already visited": "cache_search",
    "which engines do you have": "engines",
    "does bing still answer": "engines",
    "ask duckduckgo": "web_search",
    "what does entropy mean in a sentence": "instant_answer",
    "definition of osmosis": "instant_answer",
    "look in my notes for the meeting": "search_index",
    "query the knowledge base": "search_index",
    "remember this paragraph": "search_add_document",
    "put the summary into the collection": "search_add_document",
    "create a separate index for the project": "search_create_index",
    "new collection that survives restarts": "search_create_index",
    "what can you do": "find_tools",
    "how could I do this with your tools": "find_tools",
    "lies diese Seite": "fetch",
    "vergleiche die Preise der beiden Geräte": "compare",
    "haz una captura de pantalla": "see",
    "remplis le formulaire et envoie-le": "browse",
    "quali motori di ricerca ci sono": "engines",
    "最新のニュースを検索して": "search",
    "创建一个新的索引": "search_create_index",
    "which firms weld narrow boats": "search",
}


@pytest.mark.parametrize(("query", "tool"), WANTED.items(), ids=WANTED)
def test_a_request_leads_to_its_tool(query: str, tool: str) -> None:
    found = [OFFERS[at].name for at in rank_items(query, OFFERS)]
    assert tool in found[:3], found


def test_most_requests_have_their_tool_in_the_first_place() -> None:
    first = [OFFERS[rank_items(query, OFFERS)[0]].name == tool for query, tool in WANTED.items()]
    assert sum(first) >= 0.9 * len(first)


@pytest.mark.parametrize(
    ("query", "prompt"),
    [
        ("research a question", "research_question"),
        ("which of these should I buy", "compare_products"),
        ("facts of a product page", "extract_product_facts"),
    ],
)
def test_a_request_leads_to_its_prompt(query: str, prompt: str) -> None:
    offers = [searchable_prompt(offered) for offered in PROMPTS]
    assert offers[rank_items(query, offers)[0]].name == prompt


@pytest.mark.parametrize("query", ["zzzz qqqq", "💥", "xylophon", "\x00", "+-!\"'"])
def test_what_nothing_fits_finds_nothing(query: str) -> None:
    assert rank_items(query, OFFERS) == []


def test_a_tool_that_is_called_by_its_name_comes_first() -> None:
    for at, tool in enumerate(TOOLS):
        assert rank_items(tool.name.upper(), OFFERS)[0] == at


def test_every_tool_and_prompt_has_uses_and_no_use_is_left_over() -> None:
    names = [*(tool.name for tool in TOOLS), *(prompt.name for prompt in PROMPTS)]
    assert sorted(names) == sorted(read_uses())


def test_the_order_is_the_same_each_time_and_nothing_is_found_in_nothing() -> None:
    assert rank_items("read a page", OFFERS) == rank_items("read a page", OFFERS)
    assert rank_items("read a page", []) == []


def test_words_of_arguments_and_of_other_scripts_count() -> None:
    offers = [
        SearchableItem("a", ("nothing",)),
        SearchableItem("b", ("検索キーワード",)),
        SearchableItem("c", ("password of a file",)),
    ]
    assert rank_items("検索", offers) == [1]
    assert rank_items("passwords", offers) == [2]
