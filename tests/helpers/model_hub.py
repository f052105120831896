"""A model hub on loopback: what `huggingface_hub` asks for of a model, answered from a folder."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_TOLD = re.compile(r"/api/models/([^/]+/[^/]+)(?:/revision/([^/]+))?")
_FILE = re.compile(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")
_LARGE = (".safetensors", ".onnx", ".bin")


class Hub:
    """Models by their name: a folder for each, at one commit; `altered` files come with another last byte."""

    def __init__(self) -> None:
        self.models: dict[str, tuple[Path, str]] = {}
        self.altered: set[str] = set()
        self.gated: set[str] = set()
        self.asked: list[str] = []
        self.endpoint = ""
        self.answers: bytes | None = None  # to whatever is asked

    def put(self, name: str, folder: Path) -> str:
        commit = hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()
        self.models[name] = folder, commit
        return commit


def _git_hash(content: bytes) -> str:
    return hashlib.sha1(b"blob " + str(len(content)).encode() + b"\0" + content, usedforsecurity=False).hexdigest()


def _told(folder: Path, name: str) -> dict[str, object]:
    content = (folder / name).read_bytes()
    told: dict[str, object] = {"rfilename": name, "size": len(content), "blobId": _git_hash(content)}
    if name.endswith(_LARGE):
        sha256 = hashlib.sha256(content).hexdigest()
        told |= {"blobId": "0" * 40, "lfs": {"sha256": sha256, "size": len(content), "pointerSize": 134}}
    return told


@contextmanager
def model_hub() -> Iterator[Hub]:
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            hub.asked.append(f"{self.command} {self.path}")
            path = self.path.partition("?")[0]
            if hub.answers is not None:
                self._send(hub.answers)
            elif told := _TOLD.fullmatch(path):
                self._tell(told[1], told[2])
            elif file := _FILE.fullmatch(path):
                self._send_file(file[1], file[2], file[3])
            else:
                self._refuse(404, "EntryNotFound")

        def _tell(self, name: str, revision: str | None) -> None:
            if name in hub.gated:
                self._refuse(403, "GatedRepo")
            elif name not in hub.models:
                self._refuse(404, "RepoNotFound")
            elif revision not in (None, "main", hub.models[name][1]):
                self._refuse(404, "RevisionNotFound")
            else:
                folder, commit = hub.models[name]
                files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
                siblings = [_told(folder, file) for file in files]
                self._send(json.dumps({"id": name, "sha": commit, "siblings": siblings}).encode())

        def _send_file(self, name: str, commit: str, file: str) -> None:
            folder, own = hub.models[name]
            if commit != own:
                self._refuse(404, "RevisionNotFound")
                return
            content = (folder / file).read_bytes()
            etag = hashlib.sha256(content).hexdigest() if file.endswith(_LARGE) else _git_hash(content)
            if file in hub.altered:
                content = content[:-1] + bytes([content[-1] ^ 1])
            self._send(content, **{"X-Repo-Commit": commit, "ETag": f'"{etag}"'})

        def _send(self, content: bytes, **headers: str) -> None:
            self.send_response(200)
            for key, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(key, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def _refuse(self, status: int, code: str) -> None:
            self.send_response(status)
            self.send_header("X-Error-Code", code)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *told: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
