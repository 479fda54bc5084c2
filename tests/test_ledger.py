"""The append-only log survives a crash at any byte, and a folder has one run at a time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from errors import UserError
from ledger import AppendOnlyLog, FolderLock

ROOT = Path(__file__).resolve().parent.parent
RECORDS: list[dict[str, object]] = [
    {"event": "intent", "seed": 0},
    {"event": "submitted", "id": "p1"},
    {"event": "ended", "detail": "größer\n"},
]


def _written(path: Path) -> bytes:
    with AppendOnlyLog(path) as log:
        for record in RECORDS:
            log.append(record)
    return path.read_bytes()


def test_records_come_back_in_order_one_line_each(tmp_path: Path) -> None:
    path = tmp_path / "made" / "on" / "demand" / "log.jsonl"
    data = _written(path)
    assert AppendOnlyLog(path).read() == RECORDS
    assert data.count(b"\n") == len(RECORDS) and data.endswith(b"\n")


def test_a_record_is_on_disk_when_it_is_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bytes | None] = []
    sync = os.fsync

    def fsync(descriptor: int) -> None:
        is_log = os.path.samestat(path.stat(), os.fstat(descriptor))
        synced.append(path.read_bytes() if is_log else None)
        sync(descriptor)

    path = tmp_path / "log.jsonl"
    monkeypatch.setattr(os, "fsync", fsync)
    with AppendOnlyLog(path) as log:
        for record in RECORDS:
            log.append(record)
            assert synced[-1] == path.read_bytes(), "the bytes, and not before they are written"
    assert synced.count(None) == 1, "the folder, once, when the file is made"


def test_an_absent_log_is_empty(tmp_path: Path) -> None:
    assert AppendOnlyLog(tmp_path / "log.jsonl").read() == []


def test_a_crash_at_any_byte_loses_at_most_the_record_being_written(tmp_path: Path) -> None:
    data = _written(tmp_path / "whole.jsonl")
    for cut in range(len(data) + 1):
        path = tmp_path / "cut.jsonl"
        path.write_bytes(data[:cut])
        complete = RECORDS[: data[:cut].count(b"\n")]
        assert AppendOnlyLog(path).read() == complete
        assert path.read_bytes() == data[:cut], "reading must not change the file"
        with AppendOnlyLog(path) as log:
            log.append({"event": "after"})
        assert AppendOnlyLog(path).read() == [*complete, {"event": "after"}]


@pytest.mark.parametrize(
    ("bad", "says"), [(b"{}x", "not JSON"), (b"[1]", "a list"), (b"", "not JSON"), (b"\xff", "not JSON")]
)
def test_a_bad_complete_line_is_named(tmp_path: Path, bad: bytes, says: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"a": 1}\n' + bad + b'\n{"b": 2}\n')
    with pytest.raises(UserError, match=rf"log\.jsonl: line 2 is {says}"):
        AppendOnlyLog(path).read()


def test_a_record_that_is_no_json_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with AppendOnlyLog(path) as log:
        log.append({"a": 1})
        with pytest.raises(ValueError, match="JSON compliant"):
            log.append({"a": float("nan")})
        log.append({"a": 2})
    assert AppendOnlyLog(path).read() == [{"a": 1}, {"a": 2}]


def test_a_full_disk_is_told_and_leaves_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    # RLIMIT_FSIZE makes the kernel stop the write half way, as a full disk does.
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from errors import UserError\n"
        "from ledger import AppendOnlyLog\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "log = AppendOnlyLog(Path(sys.argv[1]))\n"
        "log.append({'text': 'x' * 60})\n"
        "try:\n"
        "    log.append({'text': 'y' * 60})\n"
        "except UserError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, path], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "cannot write" in done.stdout
    assert AppendOnlyLog(path).read() == [{"text": "x" * 60}]
    assert path.read_bytes().endswith(b"\n")


def test_a_second_run_is_refused_and_told_which_process_holds_the_folder(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from ledger import FolderLock\n"
        "with FolderLock(Path(sys.argv[1])):\n"
        "    print('locked', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, tmp_path, "--token=secret"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None and holder.stdin is not None
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(UserError, match=rf"in use by process {holder.pid} ") as refused, FolderLock(tmp_path):
            pass
        assert "secret" not in str(refused.value)
        holder.kill()
        holder.wait()
        holder.stdin.close()
    with FolderLock(tmp_path):
        assert str(os.getpid()) in (tmp_path / "run.lock").read_text()
    with FolderLock(tmp_path):
        pass


def test_a_deleted_lock_file_lets_no_second_run_in(tmp_path: Path) -> None:
    with FolderLock(tmp_path) as held:
        held.path.unlink()
        with pytest.raises(UserError, match="in use by process unknown"), FolderLock(tmp_path):
            pass
    with FolderLock(tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot lock"), FolderLock(tmp_path / "file" / "below"):
        pass
    with pytest.raises(UserError, match="cannot write"):
        AppendOnlyLog(tmp_path / "file" / "log.jsonl").append({})
