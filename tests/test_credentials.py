"""Keys of services: checked when they are taken, and never written."""

import pytest

from credentials import VARIABLES, credential, one_line, redacted
from errors import UserError
from judges.registry import JudgeOptions, get_judge
from paths import ROOT


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("key", ["é", "two words", "line\nbreak", "tab\there"])
def test_a_key_that_no_header_can_carry_is_refused_by_name(
    variable: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, key)
    with pytest.raises(UserError, match=f"{variable}: .*expected a key") as raised:
        credential(variable)
    assert key not in str(raised.value)


def test_a_judge_refuses_an_unusable_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "é")
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        get_judge("openai", JudgeOptions(ROOT, "m", "http://127.0.0.1:9/v1"))


def test_every_key_is_taken_out_of_a_text_and_stand_ins_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, variable in enumerate(VARIABLES):
        monkeypatch.setenv(variable, f"secret-key-{number}")
        assert redacted(f"a secret-key-{number} b") == f"a [{variable}] b"
    monkeypatch.setenv("OPENAI_API_KEY", "5")
    assert redacted("5") == "5"


def test_what_a_service_says_is_one_bounded_line_without_keys_and_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLICATE_API_TOKEN", "r8-0123456789")
    assert one_line("a\x1b[2J\tb\r\n \u202ec\ud800d r8-0123456789") == "a [2J b c d [REPLICATE_API_TOKEN]"
    assert (one_line(None), one_line({"a": 1}), one_line("x" * 301)) == ("", "{'a': 1}", "x" * 297 + "...")
    # The key goes before the cut: half a key at the end of a line is one too many characters of it.
    assert "r8-" not in one_line("x" * 290 + "r8-0123456789")
    assert one_line("abcdef", limit=5) == "ab..."


def test_pixels_refuses_a_scene_that_it_cannot_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judges.pixels.READERS", {})
    with pytest.raises(UserError, match="--judge pixels: cannot read dice; expected"):
        get_judge("pixels", JudgeOptions(ROOT, scenes=["dice"]))
