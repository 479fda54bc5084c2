"""Outcome records: what is read is exactly what was written, and nothing that is not an outcome file is read."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import records
from common import outcome_file
from errors import UserError
from files import read_json
from paths import ANALYSIS, PAPER
from records import Cell, check_strays, read_cell, read_study, write_cell
from scenes import SCENES
from studies import STUDIES

MAIN = STUDIES["main"]


def read_dice(analysis: Path) -> Cell:
    return read_cell(analysis, MAIN, "dice", "wan")


@pytest.mark.parametrize("study", [key for key, study in STUDIES.items() if study.published])
def test_every_committed_study_is_complete(study: str) -> None:
    spec = STUDIES[study]
    cells = read_study(ANALYSIS, study)
    assert list(cells) == [(scene, model) for scene in spec.scenes for model in spec.models]
    assert all(cell.n == spec.n and len(cell.counts) == SCENES[cell.scene].k for cell in cells.values())


def test_the_published_matrix_has_1728_rollouts() -> None:
    assert sum(cell.n for cell in read_study(ANALYSIS, "main").values()) == 1728


@pytest.mark.parametrize("study", [key for key, study in STUDIES.items() if study.published])
def test_a_committed_file_is_what_writing_its_cell_gives(study: str, tmp_path: Path) -> None:
    for cell in read_study(ANALYSIS, study).values():
        if cell.absent_reason is None:
            path = write_cell(tmp_path, cell)
            assert path.read_bytes() == (ANALYSIS / path.relative_to(tmp_path)).read_bytes()


@given(st.data())
def test_a_cell_survives_writing_and_reading(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    analysis = tmp_path_factory.mktemp("analysis")
    scene = data.draw(st.sampled_from(list(SCENES)))
    bins = data.draw(st.lists(st.none() | st.integers(1, SCENES[scene].k), min_size=32, max_size=32))
    protocol = data.draw(st.dictionaries(st.text(), st.text() | st.integers()))
    cell = Cell("main", scene, "mine", tuple(bins), protocol=protocol)
    write_cell(analysis, cell)
    assert read_cell(analysis, MAIN, scene, "mine") == cell
    assert sum(cell.counts) == cell.n_valid


def test_counts_leave_out_the_unscorable() -> None:
    cell = Cell("main", "cards", "mine", (1, 1, None, 4, *[None] * 28))
    assert (cell.n, cell.n_valid, cell.counts) == (32, 3, (2, 0, 0, 1))


def test_the_order_of_the_rollouts_in_a_file_does_not_matter(analysis: Path) -> None:
    expected = read_dice(analysis)
    path = analysis / "dice_wan_bins.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data | {"rollouts": data["rollouts"][::-1]}))
    assert read_dice(analysis) == expected


def test_an_existing_cell_is_replaced_only_by_force(tmp_path: Path) -> None:
    path = write_cell(tmp_path, Cell("main", "ball", "mine", (1,) * 32))
    before = path.read_bytes()
    other = Cell("main", "ball", "mine", (2,) * 32)
    with pytest.raises(UserError, match=r"ball_mine_bins\.json: exists already; expected no file, or --force"):
        write_cell(tmp_path, other)
    assert path.read_bytes() == before
    write_cell(tmp_path, other, force=True)
    assert read_cell(tmp_path, MAIN, "ball", "mine") == other


@pytest.mark.parametrize("bins", [(1,) * 31, (1,) * 33, (3,) * 32, (0,) * 32, (True,) * 32])
def test_a_bad_cell_is_not_written(tmp_path: Path, bins: tuple[int, ...]) -> None:
    with pytest.raises(UserError, match=r"ball_mine_bins\.json: .*expected"):
        write_cell(tmp_path, Cell("main", "ball", "mine", bins))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_rollout_is_named_and_never_a_null(analysis: Path) -> None:
    path = analysis / "dice_wan_bins.json"
    data = json.loads(path.read_text())
    data["rollouts"] = [rollout for rollout in data["rollouts"] if rollout["seed"] not in (3, 30)]
    path.write_text(json.dumps(data))
    with pytest.raises(UserError, match=r"30 rollouts, seed 3, 30 missing; expected 32, each of 0\.\.31 once"):
        read_dice(analysis)


def test_a_cell_that_is_neither_there_nor_recorded_as_absent_is_an_error(analysis: Path) -> None:
    (analysis / "dice_wan_bins.json").unlink()
    with pytest.raises(UserError, match=r"dice_wan_bins\.json: no such file; expected the 32 outcomes of scene dice"):
        read_study(analysis, "main")


def test_the_absent_cell_counts_as_unscorable_and_says_why() -> None:
    cell = read_study(ANALYSIS, "dur5s")["pendulum", "happyhorse"]
    assert cell.bins == (None,) * 32
    assert cell.absent_reason is not None and "0.59" in cell.absent_reason
    others = [cell for cell in read_study(ANALYSIS, "dur5s").values() if cell.absent_reason]
    assert others == [cell]


def test_a_cell_is_not_both_absent_and_there(analysis: Path) -> None:
    shutil.copy(analysis / "pendulum_happyhorse_bins.json", analysis / "dur5s")
    with pytest.raises(UserError, match=r"dur5s/pendulum_happyhorse_bins\.json: found, but absent_cells\.json"):
        read_study(analysis, "dur5s")


@pytest.mark.parametrize(
    "entries",
    [
        {"study": "dur5s"},
        ["pendulum"],
        [{"study": "dur5s", "scene": "pendulum", "model": "happyhorse"}],
        [{"study": "dur6s", "scene": "pendulum", "model": "happyhorse", "reason": "none"}],
        [{"study": "dur5s", "scene": "coin", "model": "happyhorse", "reason": "none"}],
        [{"study": "dur5s", "scene": "pendulum", "model": "happyhorse", "reason": ""}],
        [{"study": ["dur5s"], "scene": "pendulum", "model": "happyhorse", "reason": "none"}],
        [{"study": "dur5s", "scene": "pendulum", "model": {}, "reason": "none"}],
    ],
)
def test_a_bad_list_of_absent_cells_is_an_error_that_names_it(analysis: Path, entries: object) -> None:
    (analysis / "absent_cells.json").write_text(json.dumps(entries))
    with pytest.raises(UserError, match=r"absent_cells\.json: .*expected"):
        read_study(analysis, "dur5s")


def test_new_records_may_say_how_they_were_made_and_nothing_else(analysis: Path) -> None:
    path = analysis / "dice_wan_bins.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data | {"protocol": {"judge": "x"}}))
    assert read_dice(analysis).protocol == {"judge": "x"}
    path.write_text(json.dumps(data | {"protocol": "x"}))
    with pytest.raises(UserError, match="protocol is 'x'; expected an object"):
        read_dice(analysis)
    for hashes in ("x", {"0": 1}):
        path.write_text(json.dumps(data | {"protocol": {"clip_sha256": hashes}}))
        with pytest.raises(UserError, match=r"clip_sha256 is .*; expected an object of hashes by seed"):
            read_dice(analysis)
    path.write_text(json.dumps(data | {"note": "x"}))
    with pytest.raises(UserError, match="the file has an unknown key note"):
        read_dice(analysis)


def test_a_long_bad_value_does_not_flood_the_message(analysis: Path) -> None:
    path = analysis / "dice_wan_bins.json"
    path.write_text(json.dumps(outcome_file("dice", "wan", [1] * 32) | {"rollouts": "x" * 10_000}))
    with pytest.raises(UserError) as error:
        read_dice(analysis)
    assert len(str(error.value)) < len(str(path)) + 200


def test_a_selection_reads_no_other_file(analysis: Path) -> None:
    for path in analysis.glob("*_bins.json"):
        if path.name != "dice_wan_bins.json":
            path.write_text("broken")
    assert list(read_study(analysis, "main", ["dice"], ["wan"])) == [("dice", "wan")]


def test_a_selection_is_what_was_asked_for_and_none_of_it_is_a_mistake() -> None:
    once = read_study(ANALYSIS, "main", iter(["dice", "cards"]), iter(["wan", "veo31"]))  # type: ignore[arg-type]
    assert list(once) == [(scene, model) for scene in ("dice", "cards") for model in ("wan", "veo31")]
    for selection in ({"scenes": []}, {"models": []}, {"models": ()}):
        with pytest.raises(ValueError, match="expected at least one of each"):
            read_study(ANALYSIS, "main", **selection)


def test_the_list_of_absent_cells_is_read_once_a_study(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counting(path: Path, expected: str) -> Any:
        read.append(path.name)
        return read_json(path, expected)

    monkeypatch.setattr(records, "read_json", counting)
    read_study(ANALYSIS, "dur5s")
    assert read.count("absent_cells.json") == 1 and len(read) == 27


@pytest.mark.parametrize(
    "name", ["dise_wan_bins.json", "wan_bins.json", "dice_bins.json", "galton_board_real_bins.json"]
)
def test_a_file_that_no_scene_owns_is_an_error(analysis: Path, name: str) -> None:
    (analysis / name).write_text("{}")
    with pytest.raises(UserError, match=f"{name}: belongs to no scene; expected"):
        check_strays(analysis, [])


def test_files_of_further_models_are_found_under_the_longest_scene_name(analysis: Path) -> None:
    assert check_strays(analysis, []) == []
    for name in ("dice_mine_bins.json", "ball_mine_bins.json", "galton_board_real_x_bins.json"):
        (analysis / name).write_text("{}")
    assert check_strays(analysis, []) == ["mine", "x"]
    assert check_strays(analysis, ["mine"]) == ["x"]


def test_there_are_18_human_labels_a_scene() -> None:
    labels = records.read_human_labels(ANALYSIS / "human_labels.json")
    assert {scene: sum(label.scene == scene for label in labels) for scene in SCENES} == dict.fromkeys(SCENES, 18)
    assert all(label.bin is None or 1 <= label.bin <= SCENES[label.scene].k for label in labels)


def labels_file(**change: Any) -> object:
    return {"labels": [{"scene": "cards", "model": "wan", "seed": 0, "label": "hearts"} | change]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "the file is"),
        ({"labels": []}, r"labels is \[\]; expected a non-empty list"),
        (labels_file(scene=["cards"]), r"label 0: scene \['cards'\]; expected one of galton_board_real"),
        (labels_file(model=""), "label 0: model ''; expected a model key"),
        (labels_file(seed=-1), r"label 0: seed -1; expected an integer 0\.\.31"),
        (labels_file(seed=True), r"label 0: seed True; expected an integer 0\.\.31"),
        (labels_file(label="Hearts"), "label 0: label 'Hearts'; expected null or one of hearts, diamonds"),
        (labels_file(label=1), "label 0: label 1; expected null or one of hearts, diamonds"),
        (labels_file(note=""), "label 0 has an unknown key note"),
        ({"labels": labels_file()["labels"] * 2}, "label 1: scene cards, model wan, seed 0 is labelled twice"),  # type: ignore[index]
    ],
)
def test_a_bad_hand_label_is_an_error_that_names_it(tmp_path: Path, content: object, message: str) -> None:
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(content))
    with pytest.raises(UserError, match=message):
        records.read_human_labels(path)


def test_a_published_table_has_rows(tmp_path: Path) -> None:
    for path in PAPER.glob("*.csv"):
        with path.open(newline="") as file:
            assert len(records.read_published(path)) == sum(1 for _ in csv.reader(file)) - 1
    (tmp_path / "empty.csv").write_text("a,b\n")
    for name, message in (("empty.csv", "no rows"), ("none.csv", "cannot read: No such file")):
        with pytest.raises(UserError, match=f"{name}: {message}.*; expected a published table"):
            records.read_published(tmp_path / name)


def test_an_empty_or_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="dur5s: no such folder; expected the outcome files"):
        read_study(tmp_path, "dur5s")
    (tmp_path / "dur5s").mkdir()
    with pytest.raises(UserError, match=r"dur5s: no outcome files; expected \{scene\}_\{model\}_bins\.json"):
        read_study(tmp_path, "dur5s")
