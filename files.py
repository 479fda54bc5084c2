"""Atomic writes and strict JSON: the only place where a file is replaced."""

import contextlib
import errno
import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from errors import UserError

# Written results keep this many significant digits: more would record the rounding of one processor's arithmetic.
SIGNIFICANT_DIGITS = 10


def write_files(files: Mapping[Path, bytes]) -> None:
    """Replace every path by its data. Each is replaced in one step, and none before all of them are on disk, so that
    a full disk or a bad folder leaves the old files, all of them, as they were.

    Raises UserError when a folder or a file cannot be written.
    """
    side_files: dict[Path, Path] = {}
    made: list[Path] = []
    path = Path()
    try:
        for path, data in files.items():
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            made += [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            side_files[path] = Path(name)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            side_files[path].chmod(0o644)
        for path in files:
            side_files[path].replace(path)
    except OSError as error:
        _remove(side_files.values())
        for folder in sorted(made, key=lambda folder: len(folder.parts), reverse=True):
            with contextlib.suppress(OSError):  # only what is still empty goes
                folder.rmdir()
        in_place = next((f for f in path.parents if f.exists() and not f.is_dir()), None)
        why = f"{in_place} is a file" if in_place is not None else error.strerror
        raise UserError(f"{path}: cannot write: {why}; expected a writable folder") from error
    finally:
        _remove(side_files.values())


def _remove(side_files: Iterable[Path]) -> None:
    for side_file in side_files:
        side_file.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Replace `path` by UTF-8 text with LF line ends."""
    write_files({path: text.encode("utf-8")})


def json_text(value: Any) -> str:
    """Canonical JSON: sorted keys, two spaces, final newline, floats at SIGNIFICANT_DIGITS; NaN is a ValueError."""
    return json.dumps(rounded(value), sort_keys=True, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def write_json(path: Path, value: Any) -> None:
    """Replace `path` by the canonical JSON of `value`."""
    write_text(path, json_text(value))


def read_json(path: Path, expected: str) -> Any:
    """Parse one JSON file; `expected` says in a few words what it should have held.

    Raises UserError for a file that is missing, unreadable, not UTF-8 or not JSON, and for duplicate keys or NaN.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; expected {expected}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.start}); expected {expected}") from error
    except OSError as error:
        raise UserError(f"{path}: cannot read: {error.strerror}; expected {expected}") from error
    try:
        return json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise UserError(f"{path}: not JSON at {where} ({error.msg}); expected {expected}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not usable JSON ({error}); expected {expected}") from error


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"key {key!r} stands twice in one object")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def rounded(value: Any) -> Any:
    """Its numbers, however deep, at SIGNIFICANT_DIGITS; mappings become dicts, tuples lists. NaN is a ValueError."""
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    if isinstance(value, bool) or value is None or isinstance(value, str | int):
        return value
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{number} has no place in a result; store the state instead")
    return float(f"{number:.{SIGNIFICANT_DIGITS}g}")
