"""The report as a person uses it: reading, sorting, filtering, opening cells, comparing, with pointer and keyboard."""

import csv
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from browser.driving import Page
from models import MODELS, PUBLISHED
from paths import ANALYSIS, ROOT
from report import words
from scenes import SCENES

NAMES = [MODELS[key].name for key in PUBLISHED]
WIDTHS = (360, 800, 1200, 1600)
# No text is smaller than this, in pixels.
LEGIBLE = 9.0
PAGE_SOURCES = ROOT / "report" / "static"


def results(name: str) -> Any:
    return json.loads((ANALYSIS / "results" / f"{name}.json").read_text(encoding="utf-8"))


def ranked() -> list[str]:
    mntv = results("tv_band")["mntv"]
    return [MODELS[key].name for key in sorted(PUBLISHED, key=lambda key: mntv[key])]


def board(page: Page) -> list[str]:
    return page.texts("table.board tbody:first-of-type th.name")


def opened(page: Page) -> str:
    """The title of the open detail; fails when none opens."""
    page.wait(lambda: page.all("dialog[open]"), "a detail to open")
    return page.one("#cell-title").text


def closed(page: Page) -> None:
    page.wait(lambda: not page.all("dialog[open]"), "the detail to close")


def test_it_opens_from_disk_without_a_request_or_a_complaint(window: Page, published: Path) -> None:
    page = window.open(published)
    assert page.one("h1").text == "Do video world models get the odds right?"
    assert (page.errors(), page.requests()) == ([], [])
    assert page.run("return [localStorage.length, document.cookie]") == [0, ""]


def smallest_text(page: Page) -> list[Any]:
    """The size of the smallest text that can be seen, in pixels as they are drawn, and the text."""
    found: list[Any] = page.run(
        """
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
        while (walk.nextNode()) {
          const at = walk.currentNode.parentElement;
          if (!walk.currentNode.data.trim() || !at.checkVisibility() || at.closest("script, title, .spoken")) continue;
          const scale = at instanceof SVGElement && at.getScreenCTM ? at.getScreenCTM().a : 1;
          found.push([parseFloat(getComputedStyle(at).fontSize) * scale, walk.currentNode.data]);
        }
        return found.sort((a, b) => a[0] - b[0])[0];
        """
    )
    return found


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_every_width(window: Page, published: Path, width: int, dark: bool) -> None:
    page = window.open(published, width=width, dark=dark)
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert smallest_text(page)[0] >= LEGIBLE
    # Every section can be chosen.
    assert all(0 <= link.rect["x"] <= width - link.rect["width"] for link in page.all("nav a"))
    if width >= 800:
        hidden = "const [t] = arguments; return t.scrollWidth - t.clientWidth"
        assert all(page.run(hidden, page.one(frame)) <= 0 for frame in ("#leaderboard .scroll", "#grid .scroll"))
    page.run("location.hash = '#cell/lottery/wan'")
    assert opened(page) == "Lottery, WAN-2.7"
    assert smallest_text(page)[0] >= LEGIBLE
    dialog = page.run("const d = document.getElementById('cell'); return [d.scrollWidth, d.clientWidth, d.offsetWidth]")
    assert dialog[0] <= dialog[1] and dialog[2] <= width


def test_the_head_of_the_page_says_who_is_best_and_how_sure_that_is(window: Page, published: Path) -> None:
    answer = window.open(published).texts(".findings dd")[0]
    first, second = ranked()[:2]
    best = next(row for key, row in results("mntv_ci")["models"].items() if MODELS[key].name == first)
    low, high = (f"{best['corrected'][end]:.2f}" for end in ("low", "high"))
    assert answer.startswith(f"{first} has the lowest mnTV, {best['mntv']:.2f} (95 % interval {low} to {high})")
    assert f"{second} follows" in answer and "told apart" in answer


def test_the_leaderboard_sorts_by_every_column_and_back(window: Page, published: Path) -> None:
    page = window.open(published)
    assert board(page) == ranked()
    headers = page.all("table.board thead tr:first-child th")
    assert len(headers) == 8
    for index, header in enumerate(headers):
        button = header.find_element("css selector", ".sort")
        orders = []
        for _ in range(2):
            page.run("arguments[0].click()", button)
            assert header.get_attribute("aria-sort") in ("ascending", "descending")
            assert len(page.all("table.board [aria-sort]")) == 1
            orders.append((header.get_attribute("aria-sort"), board(page)))
        assert sorted(orders[0][1]) == sorted(orders[1][1]) == sorted(NAMES)
        assert orders[0][0] != orders[1][0] and orders[0][1] != orders[1][1], index
    page.click("table.board th:nth-child(1) .sort")
    assert board(page) == sorted(NAMES, key=str.lower)
    page.click("table.board th:nth-child(5) .sort")
    counts = results("tv_band")["cells"]
    scorable = {MODELS[m].name: sum(counts[s][m]["n_valid"] for s in SCENES) for m in PUBLISHED}
    assert board(page) == sorted(NAMES, key=lambda name: -scorable[name])
    page.click("table.board th:nth-child(8) .sort")
    highest = {MODELS[m].name: max(counts[s][m]["score"] for s in SCENES) for m in PUBLISHED}
    shown = [highest[name] for name in board(page)]
    assert shown == sorted(shown, reverse=True)


def test_the_filter_takes_a_model_out_of_every_view(window: Page, published: Path) -> None:
    page = window.open(published)
    shown = "[...document.querySelectorAll('[data-model=wan]')].filter((each) => each.checkVisibility())"
    before = page.run(f"return {shown}.length")
    page.click("#filter label:first-of-type input")
    assert before > 20 and page.run(f"return {shown}.length") == 0
    assert [name for name in board(page) if name] == [name for name in ranked() if name != "WAN-2.7"]
    stops = page.run(
        "return [...document.querySelectorAll('a.cell[tabindex=\"0\"]')].map((e) => e.getAttribute('href'))"
    )
    assert stops == ["#cell/galton_board_real/seedance"]
    page.click("#filter label:first-of-type input")
    assert page.run(f"return {shown}.length") == before


def test_a_cell_opens_by_pointer_and_gives_the_page_back(window: Page, published: Path) -> None:
    page = window.open(published)
    link = 'a.cell[href="#cell/dice/veo31"]'
    page.click(link)
    assert opened(page) == "Dice, Veo 3.1"
    assert page.fragment == "#cell/dice/veo31"
    assert "Every one of the 32 scorable rollouts shows 5." in page.one(".verdict").text
    assert page.texts(".numbers dd")[:2] == ["32 of 32", "0.83"]
    page.click("#cell-close")
    closed(page)
    assert page.fragment == ""
    assert page.focused.get_attribute("href").endswith("#cell/dice/veo31")
    page.driver.back()
    assert not page.all("dialog[open]")


def test_back_leaves_a_detail_and_forward_opens_it_again(window: Page, published: Path) -> None:
    page = window.open(published)
    page.click('a.cell[href="#cell/ball/wan"]')
    assert opened(page) == "Ball fork, WAN-2.7"
    page.choose("#cell-scene", "Cards")
    page.choose("#cell-model", "Veo 3.1")
    assert opened(page) == "Cards, Veo 3.1" and page.fragment == "#cell/cards/veo31"
    page.driver.back()
    closed(page)
    page.driver.forward()
    assert opened(page) == "Cards, Veo 3.1"


def test_the_keyboard_alone_reaches_sorts_opens_and_compares(window: Page, published: Path) -> None:
    page = window.open(published)
    page.press(Keys.TAB)
    assert page.focused.text == "Skip to the leaderboard"
    page.press(Keys.ENTER)
    stops = []
    while not stops or "cell" not in (page.focused.get_attribute("class") or ""):
        page.press(Keys.TAB)
        stops.append(page.focused)
        assert len(stops) < 60, "the grid is not reached"
        if page.focused.text.startswith("Miscali"):
            page.press(Keys.SPACE)
            assert board(page)[0] == "Cosmos3-Super"
    # The grid is one stop; arrows move in it, and Enter opens.
    assert page.focused.get_attribute("href").endswith("#cell/galton_board_real/wan")
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_LEFT)
    assert page.focused.get_attribute("href").endswith("#cell/ball/seedance")
    page.press(Keys.END, Keys.ARROW_UP, Keys.HOME)
    assert page.focused.get_attribute("href").endswith("#cell/galton_board/wan")
    page.press(Keys.ENTER)
    assert opened(page) == "Animated board, WAN-2.7"
    # The focus stays in the detail, and Escape gives it back.
    for _ in range(12):
        page.press(Keys.TAB)
        assert page.run("return document.activeElement === document.body || !!document.activeElement.closest('dialog')")
    page.press(Keys.ESCAPE)
    closed(page)
    assert page.focused.get_attribute("href").endswith("#cell/galton_board/wan")
    # One stop for each panel, then the pickers of the comparison.
    panels = 0
    while page.focused.get_attribute("id") != "compare-first":
        page.press(Keys.TAB)
        panels += page.focused.tag_name == "a" and "point" in page.focused.get_attribute("class")
        assert panels <= len(SCENES)
    assert panels == len(SCENES)
    page.press("Cosmos")
    page.wait(lambda: page.one(".answer").text.startswith("Cosmos3-Super − "), "the comparison to follow")


def test_every_cell_has_a_detail_that_can_be_linked(window: Page, published: Path) -> None:
    page = window.open(published)
    distributions = results("analyze_rollouts")["cells"]
    for scene in SCENES:
        for model in PUBLISHED:
            page.run("location.hash = arguments[0]", f"#cell/{scene}/{model}")
            title = f"{SCENES[scene].title}, {MODELS[model].name}"
            page.wait(lambda title=title: page.one("#cell-title").text == title, title)
            text = page.one("#cell").text
            assert not any(word in text for word in ("undefined", "NaN", "Infinity", "null\n", "[object"))
            cell = distributions[scene][model]
            assert f"{cell['n_valid']} of {cell['n']}" in text
            assert len(page.all("#cell .bar-model:not(.swatch)")) == SCENES[scene].k
            assert page.run(
                "return [...document.querySelectorAll('#cell svg *')].every((e) => !/NaN|undefined/.test(e.outerHTML))"
            )
    assert page.errors() == []


def test_a_detail_rounds_as_the_grid_does_also_halfway(window: Page, published: Path) -> None:
    page = window.open(published)
    script = (PAGE_SOURCES / "build.js").read_text(encoding="utf-8")
    values = [k / 32 for k in range(-64, 65)] + [0.145, 0.285, 1.005, 2.675]
    cases = [[value, digits] for value in values for digits in (1, 2, 3)]
    for name, function in (("number", words.number), ("change", words.change)):
        shown = page.run(f"{script}; return arguments[0].map(([value, digits]) => {name}(value, digits))", cases)
        assert shown == [function(value, digits) for value, digits in cases]


@pytest.mark.parametrize("fragment", ["#cell/dice/nobody", "#cell/moon/wan", "#cell/dice", "#cell/dice/%E0%A4%A", "#x"])
def test_a_link_to_nothing_opens_the_page_as_it_is(window: Page, published: Path, fragment: str) -> None:
    page = window.open(published, fragment)
    assert board(page) == ranked()
    assert (page.all("dialog[open]"), page.errors()) == ([], [])


def test_the_detail_shows_counts_against_exact_noise_bars(window: Page, published: Path) -> None:
    page = window.open(published, "#cell/dice/seedance")
    opened(page)
    cell = results("analyze_rollouts")["cells"]["dice"]["seedance"]
    top, bottom = (
        float(page.run(f"return document.querySelectorAll('#cell .noise')[{i}].getAttribute('y{j}')"))
        for i, j in ((0, 2), (0, 1))
    )
    low, high = (share * cell["n_valid"] for share in cell["expected_range"][0])
    bar = page.run(
        "const b = document.querySelector('#cell .bar-model'); return [+b.getAttribute('y'), +b.getAttribute('height')]"
    )
    scale = bar[1] / cell["counts"][0]
    floor = bar[0] + bar[1]
    assert (floor - bottom) / scale == pytest.approx(low) and (floor - top) / scale == pytest.approx(high)
    titles = page.run("return [...document.querySelectorAll('#cell .columns title')].map((e) => e.textContent)")
    assert [int(title.split(": ")[1].split(" ")[0]) for title in titles] == cell["counts"]


@pytest.mark.parametrize("way", ["pointer", "focus"])
def test_a_mark_shows_its_own_band_under_the_pointer_and_with_the_focus(
    window: Page, published: Path, way: str
) -> None:
    page = window.open(published)
    point = '.scatter .point[href="#cell/roulette/cosmos3_super"]'
    opacity = f"return Number(getComputedStyle(document.querySelector('{point} .own')).opacity)"
    said = f"return document.querySelector('{point}').closest('figure').querySelector('.readout').textContent"
    assert (page.run(opacity), page.run(said)) == (0, "")
    if way == "pointer":
        page.hover(f"{point} use")
    else:
        # A key comes first: a browser shows the focus to those who use the keyboard.
        page.press(Keys.TAB)
        page.run(f"document.querySelector('{point}').focus()")
    page.wait(lambda: page.run(opacity) > 0.5, "the band")
    low, high = results("scatter_grid")["cells"]["roulette"]["cosmos3_super"]["null_band"]
    words = page.run(said)
    assert words.startswith("Cosmos3-Super: TV 0.47") and words.endswith(f"calibrated [{low:.2f}, {high:.2f}]")
    if way == "pointer":
        page.hover("#scatter-title")
    else:
        page.run("document.activeElement.blur()")
    page.wait(lambda: page.run(opacity) == 0 and page.run(said) == "", "the band to go")


def test_any_two_models_are_compared_with_the_interval_of_their_difference(window: Page, published: Path) -> None:
    page = window.open(published)
    stored = {(pair["a"], pair["b"]): pair["corrected"] for pair in results("mntv_ci")["pairs"]}
    for first, second in permutations(PUBLISHED, 2):
        page.choose("#compare-first", MODELS[first].name)
        page.choose("#compare-second", MODELS[second].name)
        sign, pair = (1, stored[first, second]) if (first, second) in stored else (-1, stored[second, first])
        low, high = sorted((sign * pair["low"], sign * pair["high"]))
        text = page.one(".answer").text.replace("−", "-")
        assert text.startswith(f"{MODELS[first].name} - {MODELS[second].name}: {sign * pair['value']:+.2f}")
        assert f"corrected interval [{low:.2f}, {high:.2f}]".replace("-0.00", "0.00") in text
        apart = low > 0 or high < 0
        better = MODELS[first if high < 0 else second].name
        assert text.endswith(f"{better} is better." if apart else "they are not told apart.")
        assert len(page.all("#compare-result tbody tr")) == len(SCENES) + 1
    before = page.one(".answer b").text
    page.click("#compare-swap")
    assert page.one(".answer b").text != before
    page.choose("#compare-first", MODELS["wan"].name)
    page.choose("#compare-second", MODELS["wan"].name)
    assert page.one("#compare-result").text == "Choose two different models."
    assert page.errors() == []


def test_the_theme_follows_the_system_until_the_button_says_otherwise(window: Page, published: Path) -> None:
    page = window.open(published, dark=True)
    background = "return getComputedStyle(document.body).backgroundColor"
    dark = page.run(background)
    page.click("#theme")
    light = page.run(background)
    assert dark != light and light == "rgb(255, 255, 255)"
    page.click("#theme")
    assert page.run(background) == dark
    assert page.run("return localStorage.length + sessionStorage.length") == 0


def test_on_paper_the_data_are_unfolded_and_the_colours_are_those_of_day(window: Page, published: Path) -> None:
    page = window.open(published, dark=True)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run("return document.querySelectorAll('main details:not([open], .long)').length") == 0
    assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.run("return document.querySelector('.bar').checkVisibility()") is False
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run("return document.querySelectorAll('main details[open]').length") == 0
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_every_table_is_downloaded_as_it_is_in_the_results(window: Page, published: Path, downloads: Path) -> None:
    page = window.open(published)
    names = [button.get_attribute("data-csv") for button in page.all("[data-csv]")]
    assert {"leaderboard", "cells", "differences", "power", "judge_validation", "guidance", "settings"} <= set(names)
    for name in names:
        page.click(f'[data-csv="{name}"]')
        path = downloads / f"calibench_{name}.csv"
        page.wait(lambda path=path: path.exists() and path.stat().st_size, path.name)
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows and all(None not in row and None not in row.values() for row in rows), name
    with (downloads / "calibench_cells.csv").open(encoding="utf-8", newline="") as file:
        cells = {(row["scene"], row["model"]): row for row in csv.DictReader(file)}
    for scene, row in results("tv_band")["cells"].items():
        for model, cell in row.items():
            assert float(cells[scene, model]["score"]) == pytest.approx(cell["score"], rel=1e-9)
            assert (cells[scene, model]["tv"] == "") == (cell["tv"] is None)
    assert (page.errors(), page.requests()) == ([], [])
