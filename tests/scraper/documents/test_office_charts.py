"""Charts of office files."""

from __future__ import annotations

from scraper.documents.office_xml import format_chart
from scraper.documents.safe_zip import ZipParts
from tests.scraper.documents import builders

_SPACES = (
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)


def chart(content: str) -> str:
    """Return the Markdown of a chart with this plot area."""
    drawn = f"<c:chartSpace {_SPACES}><c:chart><c:plotArea>{content}</c:plotArea></c:chart></c:chartSpace>"
    return format_chart(ZipParts(builders.zipped({"chart.xml": drawn})), "chart.xml")


def points(name: str, *values: str | None) -> str:
    """Return the points of a series; None has no point."""
    written = "".join(
        f'<c:pt idx="{index}"><c:v>{value}</c:v></c:pt>' for index, value in enumerate(values) if value is not None
    )
    return f"<c:{name}><c:numRef><c:numCache>{written}</c:numCache></c:numRef></c:{name}>"


def title(text: str) -> str:
    return f"<c:title><c:tx><c:rich><a:p><a:r><a:t>{text}</a:t></a:r></a:p></c:rich></c:tx></c:title>"


def test_missing_values_leave_their_cell_empty() -> None:
    series = (
        f"<c:ser><c:tx><c:v>Ferries</c:v></c:tx>{points('cat', 'a', 'b', 'c')}{points('val', '4', None, '6')}</c:ser>"
    )
    assert chart(f"<c:barChart>{series}</c:barChart>") == (
        "Bar chart\n\n|  | Ferries |\n| --- | --- |\n| a | 4 |\n| b |  |\n| c | 6 |"
    )


def test_chart_of_two_types_has_all_series_and_the_titles_of_its_axes() -> None:
    one = f"<c:ser><c:tx><c:v>Sum</c:v></c:tx>{points('cat', 'a', 'b')}{points('val', '1', '2')}</c:ser>"
    two = f"<c:ser><c:tx><c:v>Mean</c:v></c:tx>{points('cat', 'a', 'b')}{points('val', '3', '4')}</c:ser>"
    axes = f"<c:catAx>{title('Town')}</c:catAx><c:valAx>{title('Boats')}</c:valAx>"
    assert chart(f"<c:barChart>{one}</c:barChart><c:lineChart>{two}</c:lineChart>{axes}") == (
        "Bar and line chart\n\nAxes: Boats\n\n| Town | Sum | Mean |\n| --- | --- | --- |\n| a | 1 | 3 |\n| b | 2 | 4 |"
    )


def test_titles_of_axes_that_repeat_a_series_or_belong_to_two_axes_of_values() -> None:
    series = f"<c:ser><c:tx><c:v>Rain</c:v></c:tx>{points('xVal', '1')}{points('yVal', '5')}</c:ser>"
    axes = f"<c:valAx>{title('Rain')}<c:axPos val='l'/></c:valAx><c:valAx>{title('Hour')}<c:axPos val='b'/></c:valAx>"
    assert chart(f"<c:scatterChart>{series}</c:scatterChart>{axes}") == (
        "Scatter chart\n\n| Hour | Rain |\n| --- | --- |\n| 1 | 5 |"
    )


def test_series_with_other_categories_have_their_own_table() -> None:
    one = f"<c:ser>{points('xVal', '1', '2')}{points('yVal', '5', '6')}{points('bubbleSize', '10', '20')}</c:ser>"
    two = f"<c:ser>{points('xVal', '3')}{points('yVal', '7')}</c:ser>"
    assert chart(f"<c:bubbleChart>{one}{two}</c:bubbleChart>") == (
        "Bubble chart\n\n|  |  | (size) |\n| --- | --- | --- |\n| 1 | 5 | 10 |\n| 2 | 6 | 20 |\n\n"
        "|  |  |\n| --- | --- |\n| 3 | 7 |"
    )


def test_categories_of_several_levels_are_joined() -> None:
    def level(*labels: tuple[int, str]) -> str:
        return "<c:lvl>" + "".join(f'<c:pt idx="{at}"><c:v>{label}</c:v></c:pt>' for at, label in labels) + "</c:lvl>"

    inner, outer = level((0, "Q1"), (1, "Q2"), (2, "Q1")), level((0, "Cork"), (2, "Porto"))
    categories = (
        f"<c:cat><c:multiLvlStrRef><c:multiLvlStrCache>{inner}{outer}</c:multiLvlStrCache></c:multiLvlStrRef></c:cat>"
    )
    assert chart(f"<c:barChart><c:ser>{categories}{points('val', '1', '2', '3')}</c:ser></c:barChart>") == (
        "Bar chart\n\n|  |  |\n| --- | --- |\n| Cork, Q1 | 1 |\n| Cork, Q2 | 2 |\n| Porto, Q1 | 3 |"
    )
