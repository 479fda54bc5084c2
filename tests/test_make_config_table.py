import json
from dataclasses import replace
from pathlib import Path

import make_config_table
from models import MODELS, PUBLISHED, resolve
from paths import PAPER
from records import read_published
from tables import Entry, Group


def test_every_setting_is_printed_as_in_the_paper() -> None:
    for row in read_published(PAPER / "table1_settings.csv"):
        settings = make_config_table.settings(MODELS[row.pop("model")])
        assert {column: setting.printed for column, setting in settings.items()} == row


def test_a_value_is_italic_exactly_when_it_equals_the_default() -> None:
    models = resolve(PUBLISHED)
    grid = {model.key: make_config_table.settings(model) for model in models}
    table = make_config_table.table_1(grid, models)
    rows = [row for row in table.rows if not isinstance(row, Group)]
    entries = [(str(row[0]), entry) for row in rows for entry in row[1:] if isinstance(entry, Entry)]
    italics = {(model, entry.text) for model, entry in entries if entry.italic}
    assert italics == {
        ("WAN-2.7", "yes"),
        ("WAN-2.7", '""'),
        ("Veo 3.1", "unset"),
        ("Veo 3.1", "on"),
        ("Runway Gen-4.5", "5 s"),
    }


def test_a_parameter_in_neither_mapping_is_not_exposed() -> None:
    bare = replace(MODELS["runway45"], api_defaults={})
    settings = make_config_table.settings(bare)
    assert settings["duration"].printed == "5 s"
    assert settings["audio"].printed == "N/A"


def test_a_model_without_an_entry_has_no_known_setting(analysis: Path) -> None:
    assert make_config_table.main(["--analysis", str(analysis), "--models", "mine"]) == 0
    rows = json.loads((analysis / "results/config_table.json").read_text())["settings"]
    assert set(rows) == {*PUBLISHED, "mine"}
    assert set(rows["mine"].values()) == {"—"}


def test_a_selection_is_printed_and_not_written(analysis: Path, capsys: object) -> None:
    assert make_config_table.main(["--analysis", str(analysis), "--model", "wan"]) == 0
    assert not (analysis / "results").exists()
