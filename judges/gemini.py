"""Gemini through its own client: https://ai.google.dev/api/generate-content, the judge of the paper.

Settings are the client's: GEMINI_API_KEY; GOOGLE_GEMINI_BASE_URL and GOOGLE_GENAI_API_VERSION for another address or
version of the interface. Temperature and thinking are the model's defaults. The sampling of a video is set even where
it is the service's default, and logged.
"""

import os
from pathlib import Path
from typing import Any

import httpx
from google.genai import Client, types

from addresses import check_base_url
from credentials import GEMINI_KEY, credential
from errors import UserError
from judges.base import Evidence, RawReply, RejectedError, UnreachableError, UnusableError, answer_within, file_stem
from judges.gemini_errors import NotFoundError, translated
from judges.gemini_reply import read_reply
from judges.uploads import MIME_TYPE, UploadError, Uploads
from ledger import AppendOnlyLog
from scenes import Evidence as EvidenceKind

BASE_URL = "GOOGLE_GEMINI_BASE_URL"
DEFAULT_MODEL = "gemini-3.1-pro-preview"

# A clip up to this size is sent with each query; a larger one is uploaded once for all of its votes. While the judge
# thinks, a request is held in memory about five times over (bytes, base64, JSON).
_INLINE_BYTES = 2_000_000
# With its base64 coding a clip of this size stays below the 20 MB that a request may have.
_MAX_INLINE_BYTES = 14_000_000
# The judge thinks before it answers; a query without an answer for so long is given up and sent again.
_TIMEOUT_S = 300.0
_POLL_S = 1.0
_UPLOAD_DEADLINE_S = 180.0
# The body of an answer is read here (see `judges.gemini_reply`), and the client sends nothing of its own accord.
_CONFIG = types.GenerateContentConfig(should_return_http_response=True, automatic_continuation=False)


class GeminiJudge:
    """work: folder for the names of uploads. Key and network are needed from `open` on.

    poll_s: between two looks at an uploaded clip. upload_deadline_s: for it to be there, and again for it to be ready.
    timeout_s: for the answer to a query. All in seconds.
    """

    def __init__(
        self,
        work: Path,
        model: str,
        video_fps: float,
        *,
        poll_s: float = _POLL_S,
        upload_deadline_s: float = _UPLOAD_DEADLINE_S,
        timeout_s: float = _TIMEOUT_S,
    ) -> None:
        self.model = model
        self.name = "gemini" if model == DEFAULT_MODEL else file_stem(model)
        self._video_fps = video_fps
        self._poll_s = poll_s
        self._upload_deadline_s = upload_deadline_s
        self._timeout_s = timeout_s
        self._log = AppendOnlyLog(work / self.name / "uploads.jsonl")
        self._uploaded: dict[str, types.File] = {}
        self._bytes: dict[str, bytes] = {}
        self._http: httpx.AsyncClient | None = None
        self._client: Client | None = None

    def settings(self, kind: EvidenceKind) -> dict[str, Any]:
        return {"video_fps": self._video_fps} if kind == "video" else {}

    async def open(self) -> None:
        """Raises UserError as well, when the key is not set or the address is unusable."""
        if self._client is None:
            key = _key()
            # Given one of ours, the client uses no other HTTP library that happens to be installed: one of them sends
            # a query again without asking.
            self._http = httpx.AsyncClient()
            options = types.HttpOptions(timeout=int(_TIMEOUT_S * 1000), httpx_async_client=self._http)
            self._client = Client(vertexai=False, api_key=key, http_options=options)
        try:
            async with answer_within(self._timeout_s):
                with translated():
                    await self._client.aio.models.get(model=self.model)
        except NotFoundError as error:
            raise UnusableError(f"there is no model {self.model} for this {GEMINI_KEY} ({error})") from error
        await self._uploads.tidy()

    async def prepare(self, evidence: Evidence) -> None:
        if evidence.kind != "video" or evidence.rollout in self._uploaded:
            return
        size = evidence.clip.stat().st_size
        if size <= _INLINE_BYTES:
            return
        try:
            self._uploaded[evidence.rollout] = await self._uploads.upload(evidence)
        except UploadError as error:
            if size > _MAX_INLINE_BYTES:
                raise RejectedError(f"{error}, and {size / 1e6:.0f} MB are too much for one request") from error

    async def ask(self, evidence: Evidence, question: str, scene: str) -> RawReply:
        file = self._uploaded.get(evidence.rollout)
        if file is not None:
            try:
                return await self._ask(types.FileData(file_uri=file.uri, mime_type=MIME_TYPE), question)
            except RejectedError:
                # The service lost the clip, or took it back; it is deleted at its release all the same.
                if evidence.clip.stat().st_size > _MAX_INLINE_BYTES:
                    raise
        try:
            return await self._ask(self._inline(evidence), question)
        except NotFoundError as error:
            raise UnusableError(str(error)) from error

    async def release(self, evidence: Evidence) -> None:
        self._bytes.pop(evidence.rollout, None)
        file = self._uploaded.pop(evidence.rollout, None)
        if file is not None and file.name:
            await self._uploads.delete(file.name)

    async def close(self) -> None:
        self._log.close()
        if self._client is not None:
            await self._client.aio.aclose()
            self._client.close()
        if self._http is not None:
            await self._http.aclose()

    @property
    def _service(self) -> Client:
        if self._client is None:
            raise RuntimeError("the judge is not open")
        return self._client

    @property
    def _uploads(self) -> Uploads:
        return Uploads(self._service, self._log, self._poll_s, self._upload_deadline_s)

    def _inline(self, evidence: Evidence) -> types.Blob:
        if evidence.final_frame is not None:
            return types.Blob(data=evidence.final_frame, mime_type="image/png")
        if evidence.rollout not in self._bytes:
            self._bytes[evidence.rollout] = evidence.clip.read_bytes()
        return types.Blob(data=self._bytes[evidence.rollout], mime_type=MIME_TYPE)

    async def _ask(self, shown: types.Blob | types.FileData, question: str) -> RawReply:
        is_video = shown.mime_type == MIME_TYPE
        evidence = types.Part(
            inline_data=shown if isinstance(shown, types.Blob) else None,
            file_data=shown if isinstance(shown, types.FileData) else None,
            video_metadata=types.VideoMetadata(fps=self._video_fps) if is_video else None,
        )
        content = types.Content(role="user", parts=[evidence, types.Part(text=question)])
        generate = self._service.aio.models.generate_content
        async with answer_within(self._timeout_s):
            with translated():
                answer = (await generate(model=self.model, contents=content, config=_CONFIG)).sdk_http_response
        if answer is None:
            raise UnreachableError("the client returned no HTTP response")
        return read_reply(answer.body or "")


def _key() -> str:
    key = credential(GEMINI_KEY)
    if not key:
        raise UserError(f"{GEMINI_KEY}: not set to a key; expected one from https://aistudio.google.com/apikey")
    if base_url := os.environ.get(BASE_URL):
        check_base_url(BASE_URL, base_url)
    return key
