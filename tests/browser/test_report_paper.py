"""The report on paper: what a browser prints of it."""

import base64
import re
from pathlib import Path

import pytest

from browser.driving import Page

# Inches.
PAPER = {"A4": (8.27, 11.69), "Letter": (8.5, 11.0)}


def pages(page: Page, paper: str) -> int:
    """How many pages a print has."""
    width, height = PAPER[paper]
    options = {"printBackground": True, "paperWidth": width, "paperHeight": height}
    pdf = base64.b64decode(page.driver.execute_cdp_cmd("Page.printToPDF", options)["data"])
    count = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert count
    return count


@pytest.mark.parametrize("paper", PAPER)
def test_an_open_cell_is_printed_by_itself_on_one_page(window: Page, published: Path, paper: str) -> None:
    page = window.open(published, "#cell/galton_board/wan")
    page.wait(lambda: page.all("dialog[open]"), "a detail to open")
    assert pages(page, paper) == 1
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    # Nothing darkens the paper, and the detail begins at its corner with the title.
    assert page.run("return getComputedStyle(document.getElementById('cell'), '::backdrop').display") == "none"
    box = page.run("const b = document.getElementById('cell').getBoundingClientRect(); return [b.left, b.top]")
    assert box == [0, 0]
    title = page.run("return document.getElementById('cell-title').getBoundingClientRect().top")
    assert 0 <= title < 40
    assert not page.run("return document.querySelector('main').checkVisibility()")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("paper", PAPER)
def test_the_page_is_printed_without_hints_for_a_pointer_on_few_sheets(
    window: Page, published: Path, paper: str
) -> None:
    page = window.open(published, dark=True)
    assert pages(page, paper) <= 11
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    hints = page.run("return [...document.querySelectorAll('.pointer, .keys, .pickers, .filter, .bar, .download')]")
    assert len(hints) > 10 and not any(page.run("return arguments[0].map((e) => e.checkVisibility())", hints))
    for css in ("table.board", "table.grid", "#compare", "figure"):
        assert page.run("return getComputedStyle(document.querySelector(arguments[0])).breakInside", css) == "avoid"
    assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
