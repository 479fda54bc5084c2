"""A change of what is drawn, or of how it is read, comes with a new version: the committed table notices."""

import json
import re
from typing import Any

import numpy as np
import pytest

from constants import SIMULATOR_VERSION
from judges.pixels import VERSION
from scenes import SCENES
from tests import rollout_table
from tests.rollout_table import TABLE, pictures, readings

ANEW = "then run: python -m tests.rollout_table"
# Of 255 levels, half of one being lost in the table: fonts and rounding differ a little between platforms.
TOLERANCE = 1.5
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def table() -> Any:
    return json.loads(TABLE.read_text(encoding="utf-8"))


def levels(means: str) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(means), np.uint8).astype(int)


def test_the_table_is_that_of_the_present_versions(table: Any) -> None:
    assert (table["simulator_version"], table["judge_version"]) == (SIMULATOR_VERSION, VERSION), (
        f"a version was raised; {ANEW}"
    )


@pytest.mark.parametrize("scene", SCENES)
def test_a_scene_that_looks_different_has_a_new_version(table: Any, scene: str) -> None:
    found = pictures(scene)
    assert found.keys() == table["pictures"][scene].keys()
    for frame, means in table["pictures"][scene].items():
        off = np.abs(levels(found[frame]) - levels(means)).max()
        assert off <= TOLERANCE, (
            f"{scene}, frame {frame}: a part of the picture is {off} levels off; if that is meant, raise "
            f"SIMULATOR_VERSION in constants.py, {ANEW}"
        )


@pytest.mark.parametrize("scene", SCENES)
def test_clips_that_are_read_differently_have_a_new_version(table: Any, scene: str) -> None:
    found = readings(scene)
    assert found.keys() == table["readings"][scene].keys()
    for shown, (answer, reason) in table["readings"][scene].items():
        message = f"{scene}, {shown}: read as {found[shown]}; if that is meant, raise VERSION in judges/pixels, {ANEW}"
        assert found[shown][0] == answer, message
        assert NUMBER.sub("#", found[shown][1]) == NUMBER.sub("#", reason), message
        measured, before = ([float(n) for n in NUMBER.findall(text)] for text in (found[shown][1], reason))
        assert measured == pytest.approx(before, abs=0.02, rel=0.02), message


@pytest.mark.parametrize("part", ["pictures", "readings"])
def test_the_table_is_not_written_anew_under_the_same_versions(
    table: Any, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rollout_table, "table", lambda: table | {part: {}})
    with pytest.raises(SystemExit, match=f"{part} changed"):
        rollout_table.rewritten()
    monkeypatch.setattr(rollout_table, "table", lambda: table)
    assert json.loads(rollout_table.rewritten()) == table
