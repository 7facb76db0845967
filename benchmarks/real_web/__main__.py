"""Read the web as it is: third parties that compute, slow and dead hosts, and latency drawn from a seed.

60 pages on 60 hosts, of four kinds: delivered complete, built by scripts, news, shops. Their third parties, and what
the scripts of these cost, are those of HTTP Archive (`--corpora` with `third-parties/`). `cpu_ratio` and `rate` are
ours to the other reader's. `cpu_busy` is the share of the CPU time that other processes leave, used by `bulk` while
pages wait. `--peers` adds crawl4ai, free-search-mcp and plain Playwright, in the same rounds.
"""

from __future__ import annotations

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, run
from benchmarks.common.corpora import corpus_folder
from benchmarks.real_web.comparison import compare
from benchmarks.real_web.load import LATENCIES_MS, measure_load
from benchmarks.real_web.policy import count_complete_cases, measure_refusals
from benchmarks.real_web.world import SITES, create_world
from benchmarks.real_web.world_server import serving_world

_GOALS = (
    Goal("content.complete", at_least=SITES),
    Goal("content.complete.off", at_least=SITES),
    Goal("cpu_ratio.policy", at_most=0.6),
    Goal("cpu_ratio.crawl4ai", at_most=0.4),
    Goal("cpu_ratio.crawl4ai_text", at_most=0.55),
    Goal("cpu_ratio.crawl4ai_avoid_ads", at_most=0.6),
    Goal("cpu_ratio.playwright", at_most=0.4),
    Goal("rate.crawl4ai", at_least=3),
    Goal("rate.free_search_mcp", at_least=8),
    *(Goal(f"cpu_busy.{latency_ms}", at_least=0.8) for latency_ms in LATENCIES_MS),
    Goal("memory_mb", at_most=3_000),
    Goal("retries_by_load", at_most=0),
    Goal("never_refused", at_least=1),
    Goal("anti_adblock", at_least=12),
)


async def measure(options: Options) -> Figures:
    """Measure the policy, the readers and the load."""
    if options.corpora is None:
        raise SystemExit("--corpora is missing: the folder that contains third-parties/ or third-parties.tar.xz.")
    folder = corpus_folder(options.corpora, "third-parties")
    entities_file = next(folder.rglob("entities-httparchive.json"), folder / "entities-httparchive.json")
    figures = measure_refusals(entities_file)
    figures["anti_adblock"] = await count_complete_cases()
    async with serving_world(create_world(entities_file)) as server:
        figures |= await compare(server, quick=options.quick, with_peers=options.peers)
        figures |= await measure_load(server, quick=options.quick)
    print_goals(figures, _GOALS)
    return figures


if __name__ == "__main__":
    run(__doc__ or "", measure, optional_peers=True)
