"""Append-only logs of what was asked and paid for, and the lock that keeps two runs out of one folder.

A log is one JSON object a line. A record is on disk when `append` returns, so a paid call may follow it: whatever
happens next, a later run finds what was about to be asked. Nothing here ever holds a token.
"""

import errno
import fcntl
import json
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from errors import UserError

LOCK_FILE = "run.lock"


class AppendOnlyLog:
    """A file of JSON objects, one a line, that only ever grows.

    A crash in the middle of a write leaves a last line without its end. That line was never acknowledged: reading
    ignores it, and the next `append` removes it first. Any other bad line is an error. Appending is safe from several
    threads of the one process that holds the folder's lock.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        self._mutex = threading.Lock()

    def read(self) -> list[dict[str, Any]]:
        """All records, oldest first; an absent file is an empty log.

        Raises UserError naming the file and the line when a complete line is not a JSON object.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UserError(f"{self.path}: cannot read: {error.strerror}; expected a log of JSON lines") from error
        *lines, _torn = data.split(b"\n")
        return [self._parse(number, line) for number, line in enumerate(lines, start=1)]

    def append(self, record: Mapping[str, Any]) -> None:
        """Add one record; it is on disk when this returns.

        Raises UserError when the file cannot be written, for instance on a full disk; nothing of the record stays.
        """
        line = json.dumps(record, allow_nan=False, sort_keys=True).encode("ascii") + b"\n"
        with self._mutex:
            try:
                if self._descriptor is None:
                    self._descriptor = self._open()
                end = os.lseek(self._descriptor, 0, os.SEEK_END)
                try:
                    _write_all(self._descriptor, line)
                    os.fsync(self._descriptor)
                except OSError:
                    os.ftruncate(self._descriptor, end)
                    raise
            except OSError as error:
                raise UserError(f"{self.path}: cannot write: {error.strerror}; expected a writable log") from error

    def close(self) -> None:
        """Close the file; a later `append` opens it again."""
        with self._mutex:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> int:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        created = not self.path.exists()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        data = self.path.read_bytes()
        if not data.endswith(b"\n"):
            os.ftruncate(descriptor, data.rfind(b"\n") + 1)
        if created:
            # Without this the whole file may be gone after a power cut, however well its content was synced.
            sync_folder(self.path.parent)
        return descriptor

    def _parse(self, number: int, line: bytes) -> dict[str, Any]:
        expected = "expected one JSON object a line"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{self.path}: line {number} is not JSON ({error}); {expected}") from error
        if not isinstance(record, dict):
            raise UserError(f"{self.path}: line {number} is a {type(record).__name__}; {expected}")
        return record


class FolderLock:
    """One run at a time in a folder: the lock goes with the process, however that ends.

    The lock file names the holder. It stays behind when the run is over, empty: removing it would let two later runs
    each lock a file of their own. A person may remove it all the same, so the folder itself is locked too.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOCK_FILE
        self._descriptor: int | None = None
        self._folder_descriptor: int | None = None

    def __enter__(self) -> Self:
        """Raises UserError naming the other process when the folder is in use."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._folder_descriptor = os.open(self.path.parent, os.O_RDONLY)
            _lock_folder(self._folder_descriptor)
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._descriptor, 0)
            # The name of the script without its arguments: a URL among these may hold a password.
            _write_all(self._descriptor, f"{os.getpid()} {Path(sys.argv[0]).name}\n".encode())
        except BlockingIOError as error:
            holder = self._holder()
            self._close()
            message = f"{self.path.parent}: in use by process {holder}; expected one run at a time in a folder"
            raise UserError(message) from error
        except OSError as error:
            self._close()
            raise UserError(f"{self.path}: cannot lock: {error.strerror}; expected a writable folder") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
        self._close()

    def _holder(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8", errors="replace").strip() or "unknown"
        except OSError:
            return "unknown"

    def _close(self) -> None:
        for descriptor in (self._descriptor, self._folder_descriptor):
            if descriptor is not None:
                os.close(descriptor)
        self._descriptor = self._folder_descriptor = None


def _lock_folder(descriptor: int) -> None:
    """Raises BlockingIOError when another process holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        # Some network file systems lock only what is open for writing, which no folder can be: the file must do there.
        if error.errno not in {errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOTSUP}:
            raise


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def sync_folder(folder: Path) -> None:
    """Let the names in a folder outlast a power cut, as `os.fsync` does for the bytes of a file."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
