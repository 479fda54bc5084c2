"""The report shows the numbers of the results: in the grid, in a cell's tests and drawings, and between two models."""

import json
import math
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from browser.driving import Page
from models import MODELS, PUBLISHED
from paths import ANALYSIS
from report import words
from scenes import SCENES

TESTS = ("chi2_monte_carlo", "chi2_exact", "tv_exact")


def results(name: str) -> Any:
    return json.loads((ANALYSIS / "results" / f"{name}.json").read_text(encoding="utf-8"))


def show(page: Page, scene: str, model: str) -> None:
    page.run("location.hash = arguments[0]", f"#cell/{scene}/{model}")
    title = f"{SCENES[scene].title}, {MODELS[model].name}"
    page.wait(lambda: page.one("#cell-title").text == title, title)


def verdict(cell: Any) -> str:
    if not cell["tested"]:
        return "few" if cell["n_valid"] else "none"
    by = [cell["tests"][name]["significant"] for name in TESTS[1:]]
    return "differs" if all(by) else "split" if any(by) else "alike"


def test_the_grid_shows_every_cell_with_its_sign_and_its_scores(window: Page, published: Path) -> None:
    page = window.open(published)
    tv, chi2 = results("tv_band")["cells"], results("chi2")["cells"]
    shown = page.run(
        "return [...document.querySelectorAll('a.cell')].map((cell) => ({href: cell.getAttribute('href'),"
        " sign: cell.querySelector('use').getAttribute('href'), tv: cell.querySelector('.tv').lastChild.textContent,"
        " rho: cell.querySelector('.rho > span').textContent, score: cell.querySelector('.score').textContent,"
        " said: cell.textContent, loses: cell.matches('.loses'),"
        " bar: Number(cell.querySelector('.share rect').getAttribute('width'))}))"
    )
    found = {cell["href"]: cell for cell in shown}
    assert len(found) == len(SCENES) * len(PUBLISHED)
    for model in PUBLISHED:
        worst = sorted(SCENES, key=lambda scene, model=model: -tv[scene][model]["score"])[:3]
        for scene in SCENES:
            cell, scored = found[f"#cell/{scene}/{model}"], tv[scene][model]
            assert cell["sign"] == f"#verdict-{verdict(chi2[scene][model])}"
            assert cell["tv"].strip() == ("—" if scored["tv"] is None else words.number(scored["tv"]))
            assert (cell["rho"], cell["score"]) == (
                f"ρ {words.number(scored['rho'])}",
                f"score {words.number(scored['score'])}",
            )
            assert cell["bar"] == pytest.approx(100 * scored["rho"], abs=0.051)
            assert cell["loses"] == (scene in worst) == ("loses most" in cell["said"])
    # Every sign is explained, and no two look alike.
    legend = page.run("return [...document.querySelectorAll('#grid .legends use')].map((e) => e.getAttribute('href'))")
    assert {cell["sign"] for cell in shown} <= set(legend) and len(legend) == len(set(legend)) == 5
    assert len(set(page.run("return arguments[0].map((id) => document.querySelector(id).innerHTML)", legend))) == 5


def test_the_tests_of_a_cell_are_shown_under_their_own_names(window: Page, published: Path) -> None:
    page = window.open(published)
    cells, told = results("chi2")["cells"], 0
    for scene in SCENES:
        for model in PUBLISHED:
            if not cells[scene][model]["tested"]:
                continue
            show(page, scene, model)
            head, *rows = page.run(
                "return [...document.querySelectorAll('#cell [aria-label=Tests] tr')]"
                ".map((row) => [...row.cells].map((cell) => cell.textContent))"
            )
            assert head[1:] == ["p", "q (BH)", "Bonferroni", "verdict"]
            assert [row[0] for row in rows] == ["χ², Monte Carlo", "χ², exact", "TV, exact"]
            for row, name in zip(rows, TESTS, strict=True):
                test = cells[scene][model]["tests"][name]
                assert row[1:4] == [words.p_value(test[value]) for value in ("p", "q", "p_bonferroni")]
                assert row[4] == ("differs" if test["significant"] else "not told apart")
            told += 1
    assert told == sum(cell["tested"] for row in cells.values() for cell in row.values())


def test_the_path_of_the_e_value_is_drawn_to_the_scale_of_its_axis(window: Page, published: Path) -> None:
    page = window.open(published)
    sequential = results("sequential")
    verdict_at = math.log10(1 / sequential["alpha"])
    for scene, model in (("dice", "veo31"), ("ball", "cosmos3_super"), ("cards", "wan"), ("roulette", "seedance")):
        cell = sequential["cells"][scene][model]
        show(page, scene, model)
        path, line, dots, note = page.run(
            "const [path, line] = ['path', 'line.reference'].map((s) => document.querySelector(`#cell ${s}`));"
            "const drawing = [...document.querySelectorAll('#cell .path')][0];"
            "return [drawing.getAttribute('d'), Number(line.getAttribute('y1')),"
            " [...document.querySelectorAll('#cell .decided')]"
            ".map((dot) => ['cx', 'cy'].map((at) => Number(dot.getAttribute(at)))),"
            " drawing.closest('figure').querySelector('.note').textContent]"
        )
        points = [tuple(map(float, point.split())) for point in path.removeprefix("M").split("L")]
        assert len(points) == cell["n"] + 1
        step, (left, floor) = (points[-1][0] - points[0][0]) / cell["n"], points[0]
        # Pixels for a factor of ten, from the line of the verdict.
        ten = (floor - line) / verdict_at
        for i, (x, y) in enumerate(points):
            log_e = cell["log_e"][i - 1] if i else 0.0
            assert x == pytest.approx(left + i * step, abs=0.15)
            # Coordinates are rounded to a tenth of a pixel, the results' logarithms to a thousandth.
            assert floor - y == pytest.approx(log_e / math.log(10) * ten, abs=0.12 + 0.02 * abs(log_e))
        after = cell["decided_after"]
        assert [tuple(round(value, 1) for value in dot) for dot in dots] == ([points[after]] if after else [])
        alone = f"rejects the reference after {after} rollouts" if after else "does not reject the reference within"
        corrected = "it rejects." if cell["significant"] else "it does not reject."
        assert note.startswith(f"Alone, at 0.05, it {alone}") and note.endswith(f"(e-BH), {corrected}")


def test_a_pair_is_compared_scene_by_scene_either_way_round(window: Page, published: Path) -> None:
    page = window.open(published)
    stored = {(pair["a"], pair["b"]): pair for pair in results("mntv_ci")["pairs"]}
    scores = results("tv_band")["cells"]
    for first, second in permutations(PUBLISHED, 2):
        page.choose("#compare-first", MODELS[first].name)
        page.choose("#compare-second", MODELS[second].name)
        sign, pair = (1, stored[first, second]) if (first, second) in stored else (-1, stored[second, first])
        rows, marks, zero, notes = page.run(
            "const place = document.getElementById('compare-result');"
            "return [[...place.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((c) => c.textContent)),"
            " [...place.querySelectorAll('circle')].map((c) => Number(c.getAttribute('cx'))),"
            " Number(place.querySelector('.zero').getAttribute('x1')),"
            " [...place.querySelectorAll(':scope > .note')].map((note) => note.textContent)]"
        )
        found = [pair["scenes"][scene] for scene in SCENES] + [pair["corrected"]]
        assert [row[0] for row in rows] == [scene.title for scene in SCENES.values()] + ["mnTV"]
        # Pixels for a unit, by the mark that lies farthest off.
        farthest = max(range(len(found)), key=lambda i: abs(found[i]["value"]))
        unit = abs(marks[farthest] - zero) / abs(found[farthest]["value"])
        for row, mark, each in zip(rows, marks, found, strict=True):
            ends = [] if each["low"] is None else sorted((sign * each["low"], sign * each["high"]))
            assert row[3:] == [words.change(sign * each["value"]), words.interval(*ends) if ends else "not estimable"]
            assert mark - zero == pytest.approx(sign * each["value"] * unit, abs=0.05)
        for row, scene in zip(rows[:-1], SCENES, strict=True):
            assert row[1:3] == [words.number(scores[scene][model]["score"]) for model in (first, second)]
        # Why there is no interval is said.
        reasons = [
            (SCENES[scene].title, row["reason"]) for scene in SCENES if (row := pair["scenes"][scene])["low"] is None
        ]
        assert notes == [f"{title}, interval not estimable: {reason}." for title, reason in reasons]
    assert page.texts("#compare-result .legend li")[:2] == ["interval excludes 0", "it does not, or there is none"]


def test_what_to_do_for_replies_is_said_only_where_it_works(window: Page, published: Path, hostile: Path) -> None:
    page = window.open(published)
    show(page, "dice", "veo31")
    said = page.one(".judge").text
    assert "The judge's replies and the clips were not published with the paper." in said
    assert "extract_bin.py" not in said
    # One's own cell has its outcomes, which are read anew only by force.
    page = window.open(hostile)
    page.run(
        "location.hash = `#cell/ball/${encodeURIComponent(arguments[0])}`",
        page.run("return JSON.parse(document.getElementById('data').textContent).models.find((m) => !m.published).key"),
    )
    page.wait(lambda: page.all("dialog[open]"), "a detail to open")
    (command,) = page.texts(".judge code")
    assert command.startswith("python extract_bin.py --scene ball --model ") and command.endswith(" --force")
    assert "not published" not in page.one(".judge").text
