"""Clips uploaded to the Gemini Files API: each is deleted after its last vote, by a later run if this one dies first.

Uploads fill a quota for 48 hours and cannot be listed reliably. A file is therefore given its name by us, and the name
is on disk before the upload begins.
"""

import asyncio
import secrets

from google.genai import Client, types

from judges.base import Evidence, JudgeError, RejectedError, answer_within
from judges.gemini_errors import translated
from ledger import AppendOnlyLog

MIME_TYPE = "video/mp4"
# The service puts this before a name that we give; the log holds names without it.
_PREFIX = "files/"
# What is left of earlier runs is deleted so many at a time, and a deletion or a look given up after so long.
_DELETIONS_AT_ONCE = 4
_SHORT_S = 30.0


class UploadError(Exception):
    """The service could not make the clip ready. The message is one line."""


class Uploads:
    """The uploaded clips of one run. log: of the names, in a folder that one run at a time uses."""

    def __init__(self, client: Client, log: AppendOnlyLog, poll_s: float, deadline_s: float) -> None:
        self._files = client.aio.files
        self._log = log
        self._poll_s = poll_s
        self._deadline_s = deadline_s
        self._deletions = asyncio.Semaphore(_DELETIONS_AT_ONCE)

    async def tidy(self) -> None:
        """Delete what earlier runs left behind."""
        left: dict[str, None] = {}
        for record in self._log.read():
            name = str(record.get("name"))
            if record.get("event") == "upload":
                left[name] = None
            else:
                left.pop(name, None)
        await asyncio.gather(*(self.delete(name) for name in left))

    async def upload(self, evidence: Evidence) -> types.File:
        """Upload a clip and wait until it can be used. Raises UploadError when it cannot, and JudgeError."""
        name = f"calibench-{secrets.token_hex(8)}"
        self._log.append({"event": "upload", "name": name})
        try:
            async with answer_within(self._deadline_s):
                with translated():
                    config = types.UploadFileConfig(name=name, mime_type=MIME_TYPE)
                    file = await self._files.upload(file=evidence.clip, config=config)
            return await self._ready(file, name)
        except (UploadError, JudgeError):
            await self.delete(name)
            raise

    async def delete(self, name: str) -> None:
        """Delete a file; when that fails, a later run does it."""
        name = name.removeprefix(_PREFIX)
        try:
            async with self._deletions, answer_within(_SHORT_S):
                with translated():
                    await self._files.delete(name=name)
        except RejectedError:
            pass  # it is not there any more, or never was
        except JudgeError:
            return
        self._log.append({"event": "deleted", "name": name})

    async def _ready(self, file: types.File, name: str) -> types.File:
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._deadline_s
        while file.state != types.FileState.ACTIVE:
            if file.state == types.FileState.FAILED:
                reason = file.error.message if file.error and file.error.message else "no reason given"
                raise UploadError(f"the service cannot read the uploaded clip: {reason}")
            if clock() > deadline:
                raise UploadError(f"the uploaded clip is still being processed after {self._deadline_s:g} s")
            await asyncio.sleep(self._poll_s)
            async with answer_within(_SHORT_S):
                with translated():
                    file = await self._files.get(name=name)
        return file
