"""Command lines: what may be asked for, and how an error reaches a person."""

import io
import os
import subprocess
import sys
from collections.abc import Sequence

import pytest

import cli
from errors import UserError
from models import PUBLISHED
from paths import ANALYSIS, ROOT
from scenes import SCENES


def parse(*argv: str) -> object:
    return cli.parser("What it does.").parse_args(argv)


def selected(*argv: str) -> tuple[list[str], list[str]]:
    args = parse(*argv)
    return cli.selected_scenes(args), cli.selected_models(args)  # type: ignore[arg-type]


def test_without_an_option_everything_published_is_selected_in_display_order() -> None:
    assert selected() == (list(SCENES), list(PUBLISHED))
    assert parse().analysis == ANALYSIS  # type: ignore[attr-defined]
    assert not cli.is_selection(parse())  # type: ignore[arg-type]


def test_a_selection_keeps_the_display_order() -> None:
    scenes, models = selected("--scene", "roulette", "ball", "--model", "veo31", "wan")
    assert (scenes, models) == (["ball", "roulette"], ["wan", "veo31"])


def test_further_models_stand_beside_the_published_ones_and_make_no_selection() -> None:
    assert selected("--models", "mine", "yours", "mine")[1] == [*PUBLISHED, "mine", "yours"]
    assert selected("--models", "wan")[1] == list(PUBLISHED)
    assert not cli.is_selection(parse("--models", "mine"))  # type: ignore[arg-type]


def test_one_further_model_can_be_shown_alone() -> None:
    assert selected("--model", "mine")[1] == ["mine"]
    assert selected("--models", "mine", "--model", "mine", "wan")[1] == ["wan", "mine"]
    assert cli.is_selection(parse("--model", "mine"))  # type: ignore[arg-type]


def test_an_unknown_scene_is_an_error_that_names_it_and_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"--scene coin: unknown scene; expected one of galton_board_real, .*roulette"):
        selected("--scene", "dice", "coin")


@pytest.mark.parametrize("key", ["a", "Model-1.0", "m_2", "x" * 64, "7"])
def test_a_key_that_can_stand_in_a_file_name_is_usable(key: str) -> None:
    assert cli.check_model_key(key) == key


@pytest.mark.parametrize(
    "key",
    ["", ".", "..", "../x", "/etc/x", "a/b", "a\\b", "-x", "_x", "a b", "a\n", "\n", "é", "a\x00", "x" * 65, "a*", "~"],
)
def test_a_hostile_key_is_refused(key: str) -> None:
    with pytest.raises(UserError, match="not a usable key; expected letters, digits"):
        cli.check_model_key(key)


@pytest.mark.parametrize("argv", [["--scen", "dice"], ["--scene"], ["--nope"], ["stray"]])
def test_a_bad_option_is_a_user_error(argv: list[str]) -> None:
    with pytest.raises(UserError, match=r"\(see --help\)"):
        parse(*argv)


def test_options_that_make_no_sense_are_not_there() -> None:
    with pytest.raises(UserError, match="unrecognized arguments: --scene dice"):
        cli.parser("", scenes=False).parse_args(["--scene", "dice"])
    with pytest.raises(UserError, match="unrecognized arguments: --models mine"):
        cli.parser("", models=False).parse_args(["--models", "mine"])


@cli.command
def example(argv: Sequence[str] | None = None) -> int:
    """A script whose first argument says how it ends."""
    match argv:
        case ["user error", message]:
            raise UserError(message)
        case ["interrupt"]:
            raise KeyboardInterrupt
        case ["bug"]:
            raise ZeroDivisionError
        case ["print", text]:
            print(text)
    return 0


def test_a_command_returns_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert example(["print", "ρ"]) == 0
    assert capsys.readouterr() == ("ρ\n", "")


@pytest.mark.parametrize("message", ["x.json: bad; expected good", "x.json:\n  bad;\r\n\texpected good\n"])
def test_a_user_error_is_one_line_on_stderr_and_exit_2(capsys: pytest.CaptureFixture[str], message: str) -> None:
    assert example(["user error", message]) == 2
    assert capsys.readouterr() == ("", "test_cli.py: x.json: bad; expected good\n")


def test_an_interrupt_is_one_line_and_exit_130(capsys: pytest.CaptureFixture[str]) -> None:
    assert example(["interrupt"]) == 130
    assert capsys.readouterr() == ("", "test_cli.py: interrupted\n")


def test_a_mistake_of_the_program_is_not_disguised_as_bad_input() -> None:
    with pytest.raises(ZeroDivisionError):
        example(["bug"])


def test_a_character_set_without_greek_shows_an_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding="ascii"))
    assert example(["print", "ρ = 1"]) == 0
    assert buffer.getvalue() == b"\\u03c1 = 1\n"


def test_a_reader_that_has_gone_ends_the_script_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, ROOT / "make_config_table.py", "--model", "wan"]
    completed = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (completed.returncode, completed.stderr) == (141, "")
