"""Names, replies and file names are other people's text: they are shown, and never run. And everybody can read it."""

from pathlib import Path

import pytest

import make_report
from browser.conftest import EVIL_JUDGE, EVIL_MODEL, EVIL_REPLIES
from browser.driving import Page
from report_data import committed, log_votes, record_protocol
from simulator import simulate
from video_io import sha256_file, write_video


def shown(page: Page, scene: str, model: str) -> None:
    page.run("location.hash = `#cell/${arguments[0]}/${encodeURIComponent(arguments[1])}`", scene, model)
    page.wait(lambda: page.all("dialog[open]"), "a detail to open")


@pytest.mark.parametrize("model", ["wan", EVIL_MODEL])
def test_hostile_text_is_shown_as_it_is_and_never_runs(window: Page, hostile: Path, model: str) -> None:
    page = window.open(hostile)
    shown(page, "dice", model)
    page.run("for (const each of document.querySelectorAll('#cell details')) each.open = true")
    text = page.one("#cell").text
    assert EVIL_JUDGE in text
    replies = page.run("return [...document.querySelectorAll('#cell pre')].map((each) => each.textContent)")
    assert replies == ["1", "1", "null", *EVIL_REPLIES]
    # Each place where the key stands: leaderboard, grid, panels, pickers, comparison.
    page.run("document.getElementById('cell-close').click()")
    page.choose("#compare-second", EVIL_MODEL)
    assert EVIL_MODEL in page.one(".answer").text
    assert f"{EVIL_MODEL} additional" in page.texts("table.board th.name .who")
    page.click('[data-csv="leaderboard"]')
    assert page.run("return [typeof window.pwned, document.querySelectorAll('main img, dialog img').length]") == [
        "undefined",
        0,
    ]
    assert (page.errors(), page.requests()) == ([], [])


def test_the_votes_and_how_far_they_agree_are_shown(window: Page, hostile: Path) -> None:
    page = window.open(hostile)
    shown(page, "dice", "wan")
    rows = page.texts("#cell .judge tbody tr")
    assert rows[0].split()[:4] == ["0", "1", "1", "null"] and "0.92" in rows[0]
    assert "unparseable" in rows[1]
    assert "0 of 1 rollouts unanimous, mean entropy 0.92 bits" in page.one(".judge").text


def test_a_further_model_is_marked_everywhere_as_additional(window: Page, hostile: Path) -> None:
    page = window.open(hostile)
    marked = [name for name in page.texts("table.board th.name") if "additional" in name]
    assert marked == [f"{EVIL_MODEL} additional"]
    shown(page, "dice", EVIL_MODEL)
    assert "corrected over the 8 tested cells of this model alone" in page.one("#cell").text


def test_the_page_itself_forbids_scripts_styles_and_requests_that_are_not_its_own(
    window: Page, published: Path
) -> None:
    page = window.open(published)
    page.run(
        """
        const place = document.createElement("div");
        document.body.append(place);
        place.innerHTML = '<img src="data:," onerror="window.pwned=1"><b style="position:fixed" id="styled">x</b>';
        const script = document.createElement("script");
        script.textContent = "window.pwned = 2";
        document.body.append(script);
        """
    )
    assert page.run("return fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')") == "refused"
    refused = page.wait(page.errors, "the browser to complain")
    assert all("Content Security Policy" in message for message in refused)
    assert page.run("return typeof window.pwned") == "undefined"
    assert page.run("return getComputedStyle(document.getElementById('styled')).position") == "static"


# The whole check takes seconds; colours do not depend on the width, nor the layout on the colours.
@pytest.mark.parametrize(("width", "dark"), [(360, False), (1200, True), (1600, False)])
def test_nothing_keeps_anybody_from_reading_it(
    window: Page, hostile: Path, axe_core: str, width: int, dark: bool
) -> None:
    page = window.open(hostile, width=width, dark=dark)
    page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    assert page.axe(axe_core) == []
    shown(page, "dice", "wan")
    page.run("for (const each of document.querySelectorAll('#cell details')) each.open = true")
    assert page.axe(axe_core) == []


def test_the_final_frames_of_the_clips_on_disk_are_in_the_page(window: Page, tmp_path: Path, axe_core: str) -> None:
    analysis = committed(tmp_path)
    cell = tmp_path / "rollouts" / "main" / "dice" / "wan"
    cell.mkdir(parents=True)
    write_video(cell / "seed_0.mp4", simulate("dice", "sim_collapsed", 0, size=(428, 240))[1], 24)
    tall = (frame[:, ::2] for frame in simulate("dice", "sim_collapsed", 3, size=(428, 240))[1])
    write_video(cell / "seed_3.mp4", tall, 24)
    # One of the two was read.
    read = log_votes(analysis, "dice", "wan", "gemini", {0: ["5"], 3: ["5"]}, {0: sha256_file(cell / "seed_0.mp4")})
    record_protocol(analysis, "dice", "wan", read)
    (cell / "seed_2.mp4").write_bytes(b"no video")
    options = ["--analysis", str(analysis), "--thumbnails", "--rollouts", str(tmp_path / "rollouts")]
    assert make_report.main(options) == 0
    page = window.open(analysis / "report.html", "#cell/dice/wan")
    page.wait(lambda: page.all("dialog[open]"), "a detail to open")
    page.wait(lambda: page.run("return document.querySelector('.frames img').naturalWidth"), "a picture")
    known, unknown = page.all(".frames img")
    assert known.get_attribute("alt").startswith("Final frame of seed 0, read as ")
    assert unknown.get_attribute("alt") == "Final frame of seed 3, of a clip not known to be the one that was read"
    assert [text for text in page.texts(".frames li") if "?" in text] == [page.texts(".frames li")[i] for i in (2, 3)]
    assert "?: the clip on disk is not known to be the clip that was read." in page.texts(".seeds .note")
    # A frame is shown whole, whatever its shape.
    assert page.run("return getComputedStyle(arguments[0]).objectFit", unknown) == "contain"
    assert page.texts(".frames .missing")[:2] == ["no clip", "unreadable clip"]
    assert page.axe(axe_core) == []
    assert (page.errors(), page.requests()) == ([], [])
