"""Labelling as a person does it: in a browser, mostly by keys, with a server that may be killed in between."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

import records
from browser.driving import Page
from common import write_model
from label_client import CLIP, put_clips
from labelling.session import LOG_FILE
from models import MODELS
from paths import ROOT

SCENES = ("ball", "cards", "lottery")  # a video, pictures with few outcomes, pictures with more than nine
MODEL_KEYS = ("wan", "mine")
PER_SCENE = 2
CLIPS = len(SCENES) * PER_SCENE
WIDTHS = (360, 900, 1600)


class Labelling:
    """The script on its own clips, and what it printed."""

    def __init__(self, folder: Path) -> None:
        self.analysis = folder / "analysis"
        self.rollouts = folder / "rollouts"
        self.output = self.analysis / "labels" / "main_anna.json"
        for scene in SCENES:
            for model in MODEL_KEYS:
                put_clips(self.rollouts, scene, model, range(2))
        self.analysis.mkdir()

    @property
    def log(self) -> list[dict[str, object]]:
        """The answers on disk."""
        path = self.output.with_name(f"{self.output.stem}.session") / LOG_FILE
        return [json.loads(line) for line in path.read_text().splitlines()[1:]]

    @contextmanager
    def run(self) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
        """The script while it serves: the page's address, and the process, which is killed at the end."""
        command = [sys.executable, ROOT / "label_rollouts.py", "--per-scene", str(PER_SCENE), "--labeller", "anna"]
        command += ["--scene", *SCENES, "--model", *MODEL_KEYS, "--output", self.output]
        command += ["--analysis", self.analysis, "--rollouts", self.rollouts]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                address = next((line.strip() for line in process.stdout if line.startswith("http://127.0.0.1:")), "")
                assert address
                yield address, process
            finally:
                process.kill()


@pytest.fixture
def labelling(tmp_path: Path) -> Labelling:
    return Labelling(tmp_path)


def place(page: Page) -> str:
    return page.one("#place").text


def shown(page: Page, number: int) -> None:
    """Wait until this clip, from 1, can be answered."""
    page.wait(lambda: place(page).startswith(f"Clip {number} of {CLIPS}"), f"clip {number}")
    page.wait(lambda: page.one("#labelling").get_attribute("aria-busy") == "false", f"clip {number} to load")


def done(page: Page) -> None:
    page.wait(lambda: page.one("#review").is_displayed(), "the end of the clips")


def finished(page: Page) -> str:
    page.wait(lambda: page.one("#result").is_displayed(), "the result")
    return page.one("#result").text


def label_all(page: Page, first: int = 1) -> None:
    """Answer every clip from this one on with null, and finish."""
    for number in range(first, CLIPS + 1):
        shown(page, number)
        page.press("n")
    done(page)
    page.press(Keys.TAB, Keys.ENTER)


def test_a_session_by_keys_alone_with_undo_and_a_killed_server(window: Page, labelling: Labelling) -> None:
    write_model(labelling.analysis, "mine", {"ball": [1] * 32, "cards": [None] * 32})
    with labelling.run() as (address, process):
        page = window.open(address)
        shown(page, 1)
        assert place(page) == f"Clip 1 of {CLIPS} · Ball fork 1 of 2"
        assert "Through which channel" in page.one("#question").text
        assert page.run("const v = document.querySelector('video'); return !v.paused && v.muted")
        page.press("2")
        shown(page, 2)
        assert labelling.log == [{"clip": 0, "label": "right"}]
        page.press("U")
        shown(page, 1)
        page.press("1")
        shown(page, 2)
        # The highlight moves by arrows; Enter answers.
        page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        assert page.focused.text.split() == ["2", "right"]
        page.press(Keys.ARROW_LEFT, Keys.ENTER)
        shown(page, 3)
        assert page.one("#asked-heading").text == "New question"
        page.press("9", "x", "0")
        assert place(page).startswith("Clip 3")
        assert (page.errors(), [url for url in page.requests() if not url.startswith(address)]) == ([], [])
        process.kill()
        process.wait()
        page.press("4")
        page.wait(lambda: "does not answer" in page.one("#alert").text, "word of the dead server")
    assert labelling.log == [
        {"clip": 0, "label": "right"},
        {"undo": 0},
        {"clip": 0, "label": "left"},
        {"clip": 1, "label": "left"},
    ]
    with labelling.run() as (again, process):
        assert again != address
        page.open(again)
        shown(page, 3)
        page.press("4")
        shown(page, 4)
        page.press("n")
        shown(page, 5)
        # With twenty outcomes one digit decides nothing: it may be the first of two.
        page.press("1")
        assert page.focused.text == "1"
        page.press("2")
        assert page.focused.text == "12"
        page.press(Keys.ENTER)
        shown(page, 6)
        page.press("7", Keys.ARROW_DOWN, Keys.ENTER)
        done(page)
        page.press("u")
        shown(page, 6)
        page.press("2", "5", Keys.ENTER)
        done(page)
        assert not labelling.output.exists()
        page.press(Keys.TAB, Keys.ENTER)
        result = finished(page)
        assert process.wait(20) == 0
        assert page.errors() == []
    labels = {(label.scene, label.bin) for label in records.read_human_labels(labelling.output)}
    assert labels == {("ball", 1), ("cards", 4), ("cards", None), ("lottery", 12), ("lottery", 5)}
    assert "6 labels written to" in result and "the judge has read 2 of these rollouts" in result
    assert page.texts("#rows th") == ["Ball fork", "Cards", "Total"]


def test_a_pointer_can_do_all_of_it(window: Page, labelling: Labelling) -> None:
    with labelling.run() as (address, process):
        page = window.open(address, width=360)
        for number in range(1, CLIPS + 1):
            shown(page, number)
            page.click("#null" if number % 2 else "#choices button:last-child")
        done(page)
        page.click("#review-undo")
        shown(page, CLIPS)
        page.click("#undo")
        shown(page, CLIPS - 1)
        page.click("#choices button:nth-child(3)")
        shown(page, CLIPS)
        page.click("#null")
        done(page)
        page.click("#finish")
        finished(page)
        assert process.wait(20) == 0
    answers = [label.bin for label in records.read_human_labels(labelling.output) if label.scene == "lottery"]
    assert sorted(answers, key=str) == [3, None]


@pytest.mark.parametrize("dark", [False, True])
def test_it_is_blind_and_fits_every_width_and_axe_finds_no_fault(
    window: Page, labelling: Labelling, dark: bool, axe_core: str
) -> None:
    write_model(labelling.analysis, "mine", {scene: [1] * 32 for scene in SCENES})
    faults = []

    def look(lowest: str) -> None:
        for width in WIDTHS:
            size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
            page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            assert page.run("return document.documentElement.scrollWidth") <= width
            # In reach without scrolling.
            assert page.run("return arguments[0].getBoundingClientRect().bottom <= innerHeight", page.one(lowest))
        faults.extend(page.axe(axe_core))

    with labelling.run() as (address, _):
        page = window.open(address, dark=dark)
        for number in range(1, CLIPS + 1):
            shown(page, number)
            words = set(re.findall(r"\w+", page.run("return document.documentElement.outerHTML").lower()))
            assert "clip" in words and not words & {*MODELS, *MODEL_KEYS, "seed", "seed_0", "seed_1", "kappa"}
            if number % PER_SCENE:
                look("#undo")
            page.press("n")
        done(page)
        assert all("seed" not in url and "mp4" not in url for url in page.requests())
        look("#finish")
        page.press(Keys.TAB, Keys.ENTER)
        finished(page)
        look("#agreement")
    assert faults == []


def test_hostile_names_are_text(window: Page, tmp_path: Path) -> None:
    evil = "<img src=x onerror=window.pwned=1><script>window.pwned=2<!script>"
    labelling = Labelling(tmp_path / evil)
    labelling.output = labelling.analysis / f"{evil}.json"
    (labelling.analysis / "ball_mine_bins.json").write_text(f'"{evil}"')
    for cell in labelling.rollouts.glob("main/*/*"):
        (cell / f"{evil}.mp4").write_bytes(CLIP)
        (cell / "seed_0.mp4").write_bytes(b"no video")
    with labelling.run() as (address, process):
        page = window.open(address)
        label_all(page)
        result = finished(page)
        assert process.wait(20) == 0
    assert f"6 labels written to {labelling.output}" in result
    assert f"not shown, another drawn: {labelling.rollouts}" in result
    assert "ball_mine_bins.json: the file is" in result
    assert page.run("return window.pwned") is None
    assert page.all("#result img, #result script") == []
    assert (page.errors(), [url for url in page.requests() if not url.startswith(address)]) == ([], [])


def test_a_clip_that_cannot_be_shown_is_skipped_and_named_at_the_end(window: Page, labelling: Labelling) -> None:
    with labelling.run() as (address, process):
        for path in labelling.rollouts.glob("main/ball/*/*.mp4"):
            path.unlink()
        page = window.open(address)
        for _ in range(PER_SCENE):
            page.wait(lambda: page.one("#skip").is_displayed(), "a way past the clip")
            before = place(page)
            # What was not seen takes no label.
            page.press("1")
            assert place(page) == before
            page.click("#skip")
            page.wait(lambda before=before: place(page) != before, "the next clip")
        label_all(page, PER_SCENE + 1)
        result = finished(page)
        assert process.wait(20) == 0
        assert process.stderr is not None
        said = process.stderr.read()
        # Which clips they were is said on the page at the end, and nowhere before.
        assert said.splitlines()[-PER_SCENE:] == [f"clip {number} skipped" for number in range(1, PER_SCENE + 1)]
        assert not any(word in said for word in ("seed", *MODEL_KEYS))
    assert "4 labels written to" in result and result.count("no label: ball/") == PER_SCENE
    assert result.count("No such file") == PER_SCENE


def test_a_second_window_cannot_answer_a_clip_twice(window: Page, labelling: Labelling) -> None:
    with labelling.run() as (address, _):
        page = window.open(address)
        shown(page, 1)
        page.driver.switch_to.new_window("tab")
        page.open(address)
        shown(page, 1)
        page.press("1")
        shown(page, 2)
        page.driver.close()
        page.driver.switch_to.window(page.driver.window_handles[0])
        page.press("2")
        shown(page, 2)
        assert "Not taken" in page.one("#alert").text
        assert labelling.log == [{"clip": 0, "label": "left"}]


def test_a_video_rests_on_its_end_and_starts_again(window: Page, labelling: Labelling) -> None:
    with labelling.run() as (address, _):
        page = window.open(address)
        shown(page, 1)
        page.wait(lambda: page.run("return document.querySelector('video').ended"), "the end of the video")
        rest = page.run(
            "const video = document.querySelector('video'); window.began = null;"
            "video.addEventListener('playing', () => (window.began = performance.now()));"
            "return performance.now()"
        )
        again = page.wait(lambda: page.run("return window.began"), "the video to start again")
        assert again > rest
        # It goes on so.
        page.wait(lambda: page.run("return document.querySelector('video').ended"), "its end once more")


def test_a_clip_that_was_left_does_nothing_any_more(window: Page, labelling: Labelling) -> None:
    with labelling.run() as (address, _):
        page = window.open(address)
        shown(page, 1)
        page.run(
            "window.left = document.querySelector('video'); window.plays = 0;"
            "window.left.play = () => { window.plays += 1; };"
            # The pause at its end begins, and the person answers meanwhile.
            "window.left.dispatchEvent(new Event('ended'));"
        )
        page.press("1")
        shown(page, 2)
        assert page.run("return window.left.isConnected") is False
        page.run(
            "document.getElementById('labelling').setAttribute('aria-busy', 'true');"
            "window.left.dispatchEvent(new Event('loadeddata'));"
            "window.left.dispatchEvent(new Event('error'));"
        )
        # Neither its picture nor its fault is that of the clip on the screen.
        assert page.one("#labelling").get_attribute("aria-busy") == "true"
        assert not page.one("#alert").is_displayed() and not page.one("#skip").is_displayed()
        waited = "const [done] = arguments; setTimeout(() => done(window.plays), 1500)"
        assert page.driver.execute_async_script(waited) == 0


def test_clips_that_are_all_skipped_can_still_be_taken_back(window: Page, labelling: Labelling) -> None:
    gone = {path: path.read_bytes() for path in labelling.rollouts.glob("main/*/*/*.mp4")}
    with labelling.run() as (address, process):
        for path in gone:
            path.unlink()
        page = window.open(address)
        for number in range(1, CLIPS + 1):
            page.wait(lambda number=number: place(page).startswith(f"Clip {number} "), f"clip {number}")
            page.wait(lambda: page.one("#skip").is_displayed(), "a way past the clip")
            page.click("#skip")
        done(page)
        page.click("#finish")
        page.wait(lambda: page.one("#alert").is_displayed(), "word of what is missing")
        assert "put the clips back and undo the skips" in page.one("#alert").text
        for path, clip in gone.items():
            path.write_bytes(clip)
        page.click("#review-undo")
        shown(page, CLIPS)
        page.press("n")
        done(page)
        page.click("#finish")
        assert "1 labels written to" in finished(page)
        assert process.wait(20) == 0
