"""Files are replaced in one step or not at all; JSON is canonical when written and strict when read."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common import snapshot
from errors import UserError
from files import json_text, read_json, write_files, write_json, write_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e300, 1e300) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
)


@given(JSON)
def test_what_is_written_is_canonical_so_that_writing_it_again_changes_nothing(value: object) -> None:
    text = json_text(value)
    assert text.endswith("\n") and "\r" not in text
    assert json_text(json.loads(text)) == text


def test_json_has_sorted_keys_two_spaces_and_a_final_newline() -> None:
    assert json_text({"b": [1, 2.5], "a": {"é": None}}) == (
        '{\n  "a": {\n    "é": null\n  },\n  "b": [\n    1,\n    2.5\n  ]\n}\n'
    )


def test_floats_keep_ten_significant_digits() -> None:
    assert json.loads(json_text([1 / 3, 0.1 + 0.2, 1.23456789012345e-12])) == [0.3333333333, 0.3, 1.23456789e-12]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_no_number_is_never_written(tmp_path: Path, value: float) -> None:
    path = tmp_path / "x.json"
    with pytest.raises(ValueError, match="store the state instead"):
        write_json(path, {"deep": [value]})
    assert not path.exists()


def test_writing_makes_the_folder_and_leaves_no_side_file(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "x.json"
    write_json(path, {"x": 1})
    write_json(path, {"x": 2})
    assert snapshot(tmp_path) == {"a/b/x.json": b'{\n  "x": 2\n}\n'}


def test_text_is_utf_8_with_lf(tmp_path: Path) -> None:
    write_text(tmp_path / "x", "ρ\n")
    assert (tmp_path / "x").read_bytes() == "ρ\n".encode()


def test_a_written_file_is_readable_by_everybody(tmp_path: Path) -> None:
    write_text(tmp_path / "x", "")
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o644


def test_several_files_are_replaced_together_or_not_at_all(tmp_path: Path) -> None:
    old, blocked = tmp_path / "old", tmp_path / "blocked" / "new"
    old.write_bytes(b"old")
    blocked.parent.write_bytes(b"a file where a folder must be")
    before = snapshot(tmp_path)
    with pytest.raises(UserError, match=r"blocked/new: cannot write: .*; expected a writable folder"):
        write_files({old: b"new", blocked: b"new"})
    assert snapshot(tmp_path) == before


def test_a_folder_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    old, folder = tmp_path / "old", tmp_path / "folder"
    old.write_bytes(b"old")
    folder.mkdir()
    with pytest.raises(UserError, match="folder: cannot write: Is a directory"):
        write_files({old: b"new", folder: b"new"})
    assert snapshot(tmp_path) == {"old": b"old"}


def test_a_full_disk_leaves_the_old_files_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"1")
    two.write_bytes(b"2")
    synced: list[int] = []

    def fsync(descriptor: int) -> None:
        synced.append(descriptor)
        if len(synced) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fsync)
    with pytest.raises(UserError, match="two: cannot write: No space left on device"):
        write_files({one: b"new", two: b"new"})
    assert snapshot(tmp_path) == {"one": b"1", "two": b"2"}


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "not JSON at line 1 column 1"),
        (b'{"a": 1', "not JSON at line 1 column 8"),
        (b"\n\n[1,]", "not JSON at line 3 column"),
        (b"{'a': 1}", "not JSON at line 1 column 2"),
        (b'{"a": 1} {"a": 1}', "not JSON at line 1 column 10"),
        (b"\xff\xfe{}", "not UTF-8 text (byte 0)"),
        (b'\xef\xbb\xbf{"a": 1}', "not JSON at line 1 column 1"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": -Infinity}', "-Infinity is not a JSON number"),
        (b'{"a": 1, "b": 2, "a": 3}', "key 'a' stands twice in one object"),
        (b"[" * 100_000, "not usable JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not usable JSON"),
    ],
)
def test_what_is_not_strict_json_is_an_error_that_names_the_file(tmp_path: Path, content: bytes, found: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(UserError) as error:
        read_json(path, "a number")
    assert str(error.value).startswith(f"{path}: {found}") or f"({found})" in str(error.value)
    assert str(error.value).endswith("; expected a number")


def test_a_file_that_is_not_there_or_not_a_file_is_an_error_that_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"x\.json: no such file; expected a number"):
        read_json(tmp_path / "x.json", "a number")
    with pytest.raises(UserError, match=r"cannot read: Is a directory; expected a number"):
        read_json(tmp_path, "a number")


def test_a_failed_write_leaves_no_new_folder_and_names_what_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "tables").write_text("not a folder")
    with pytest.raises(UserError, match="tables is a file; expected a writable folder"):
        write_files({tmp_path / "results" / "a.json": b"{}", tmp_path / "tables" / "a.md": b""})
    assert [path.name for path in tmp_path.iterdir()] == ["tables"]
