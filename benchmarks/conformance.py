"""Run the public MCP conformance suite on our server and count the scored scenarios that pass.

`passed.2025` and `passed.2026` count scenarios of the requirements of 2025-11-25 (30) and 2026-07-28 (37).
`passed.tasks` counts the scenarios of tasks, which the suite runs without a score (9).
Install the suite from npm with `python -m tests.clients.setup node`.
"""

from __future__ import annotations

import tempfile

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from tests.clients.environments import NODE
from tests.conformance.suite import REQUIREMENTS, SCORED, TASKS, Verdict, run_suite
from tests.scraper.process import serving

_GOALS = [Goal(f"passed.{requirements[:4]}", at_least=SCORED[requirements]) for requirements in REQUIREMENTS]
_GOALS.append(Goal("passed.tasks", at_least=sum(TASKS.values())))


async def measure(options: Options) -> Figures:
    """Run both sets of requirements.

    Raises:
        FileNotFoundError: the suite is not installed.
    """
    if not NODE.is_set_up():
        raise FileNotFoundError("The suite is not installed. Run: python -m tests.clients.setup node")
    with tempfile.TemporaryDirectory(prefix="benchmark-data-") as data:
        async with serving("-m", "tests.conformance.server", f"--data_dir={data}") as program:
            verdicts = {name: await run_suite(program.url, name) for name in REQUIREMENTS}
    _print(verdicts)
    figures: Figures = {f"passed.{name[:4]}": len(verdict.passed) for name, verdict in verdicts.items()}
    figures["passed.tasks"] = sum(
        held and name.startswith("tasks-") for verdict in verdicts.values() for name, held in verdict.unscored
    )
    print_goals(figures, _GOALS)
    return figures


def _print(verdicts: dict[str, Verdict]) -> None:
    rows = [(name, len(verdict.passed), SCORED[name]) for name, verdict in verdicts.items()]
    print_table("Scored scenarios", ("requirements", "passed", "of"), rows)
    for name, verdict in verdicts.items():
        for scenario in verdict.failed:
            print(f"  {name}: {scenario} fails")
        unscored = ", ".join(f"{scenario} {'holds' if held else 'fails'}" for scenario, held in verdict.unscored)
        print(f"  {name}, without a score: {unscored}")


if __name__ == "__main__":
    run(__doc__ or "", measure)
