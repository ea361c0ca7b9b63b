"""A server that speaks the parts of GitHub's, Semantic Scholar's and arXiv's APIs that the research tools use."""

import base64
import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from urllib.parse import parse_qs, urlsplit

PAPER = {
    "paperId": "a" * 40, "title": "A paper\x1b[31m on pruning", "year": 2024, "abstract": "We prune. " * 20,
    "authors": [{"name": "Ada L."}], "externalIds": {"ArXiv": "2410.22553", "DOI": "10.1/x"}, "citationCount": 3,
    "venue": "ICML",
}  # fmt: skip


def pdf(pages: int) -> bytes:
    """A PDF with a line of text on each page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(pages))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for number in range(pages):
        stream = f"BT /F1 12 Tf 72 720 Td (page {number + 1} of the paper) Tj ET".encode()
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    out, places = BytesIO(), []
    out.write(b"%PDF-1.4\n")
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start))
    return out.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as the real ones would."""

    asked: list[str]

    def do_GET(self) -> None:
        """One request."""
        place = urlsplit(self.path)
        self.asked.append(self.path)
        if place.path.startswith("/repos/"):
            self._github(place.path.removeprefix("/repos/"))
        elif place.path.startswith("/graph/v1/"):
            self._papers(place.path.removeprefix("/graph/v1/"), parse_qs(place.query))
        else:
            self._arxiv(place.path)

    def _github(self, path: str) -> None:
        name = "/".join(path.split("/")[:2])
        if name == "busy/repo":
            self._json({"message": "API rate limit exceeded"}, 403)
        elif name not in ("some/repo", "secret/repo"):
            self._json({"message": "Not Found"}, 404)
        elif path == name:
            url = f"http://{self.headers['Host']}/repos/{name}"
            self._json({"full_name": name, "url": url, "private": name == "secret/repo", "default_branch": "main"})
        elif path.endswith("/readme"):
            self._json(_content("README.md", "# Some repo\n"))
        elif "/git/trees/" in path:
            entries = [{"path": path, "type": "blob"} for path in ("train.py", "src/model.py")]
            self._json({"sha": "1", "tree": [*entries, {"path": "src", "type": "tree"}]})
        elif path.endswith("/contents/train.py"):
            self._json(_content("train.py", "print('hi')\n"))
        elif path.endswith("/contents/big.bin"):
            self._json(_content("big.bin", "x") | {"size": 9_000_000, "encoding": "none"})
        else:
            self._json({"message": "Not Found"}, 404)

    def _papers(self, path: str, query: dict[str, list[str]]) -> None:
        if path == "paper/search":
            found = [PAPER] if query["query"] == ["pruning"] else []
            self._json({"total": len(found), "offset": 0, "data": found})
        elif path == "paper/busy":
            self._json({"message": "Too Many Requests"}, 429)
        elif path == f"paper/{'a' * 40}":
            self._json(PAPER)
        elif path == f"paper/{'a' * 40}/citations":
            self._json({"offset": 0, "data": [{"citingPaper": PAPER | {"title": "Cites it"}}]})
        else:
            self._json({"error": "Paper not found"}, 404)

    def _arxiv(self, path: str) -> None:
        if path == "/pdf/2410.22553":
            self._redirect("/pdf/2410.22553v2")
        elif path == "/pdf/2410.22553v2":
            self._raw(pdf(9), "application/pdf")
        elif path == "/pdf/2410.00001":
            self._redirect("http://169.254.169.254/latest/meta-data")
        elif path == "/pdf/2410.00002":
            self._raw(b"%PDF-1.4\nrubbish", "application/pdf")
        elif path == "/pdf/2410.00003":
            self._raw(b"<html>", "text/html")
        else:
            self._json({}, 404)

    def _json(self, value: object, status: int = 200) -> None:
        self._raw(json.dumps(value).encode(), "application/json", status)

    def _redirect(self, to: str) -> None:
        self.send_response(302)
        self.send_header("Location", to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _raw(self, data: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _content(name: str, text: str) -> dict[str, object]:
    raw = base64.b64encode(text.encode()).decode()
    return {"name": name, "path": name, "type": "file", "size": len(text), "encoding": "base64", "content": raw}


@contextmanager
def research_server() -> Iterator[tuple[str, list[str]]]:
    """Its address, and what it is asked."""
    asked: list[str] = []
    handler = type("Asked", (Handler,), {"asked": asked})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
