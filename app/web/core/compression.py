"""Compress answers for clients that accept it, where that pays.

Flask-Compress compresses whole answers, and gives each encoding an ETag of its own.  Answers that are sent in pieces
are compressed here: Flask-Compress would keep the request's context open between two pieces, and each piece is
produced by whichever thread is free (app/server/bridge.py).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from flask import Flask, Response, request
from flask_compress import Compress

SMALLEST = 1_024  # bytes; a shorter answer fits into a packet or two as it is
WHOLE = (
    "text/html", "text/css", "text/javascript", "text/plain", "image/svg+xml", "application/json",
    "application/openmetrics-text",
)  # fmt: skip
#: Exports.  Events are not among them: each must arrive at once.  Nor are archives, which are compressed already.
IN_PIECES = frozenset(
    {"text/csv", "text/markdown", "text/html", "application/x-ndjson", "application/xml", "application/json"}
)
#: Of 1 to 9.  Exports may have 100 MB, and a higher level makes them hardly smaller.
LEVEL_IN_PIECES = 4
_GZIP_HEADER = 16 + zlib.MAX_WBITS


def init(app: Flask) -> None:
    """Compress by zstd, Brotli or gzip, as the client prefers."""
    app.config |= {
        "COMPRESS_MIMETYPES": list(WHOLE),
        "COMPRESS_MIN_SIZE": SMALLEST,
        "COMPRESS_ALGORITHM": ["zstd", "br", "gzip"],
        "COMPRESS_STREAMS": False,
    }
    Compress(app)
    app.after_request(_compress_pieces)


def _compress_pieces(response: Response) -> Response:
    is_export = response.is_streamed and response.mimetype in IN_PIECES and response.status_code == 200
    if not is_export or response.direct_passthrough or not request.accept_encodings["gzip"]:
        return response
    response.response = _gzipped(response.iter_encoded(), response.response)
    response.headers["Content-Encoding"] = "gzip"
    response.headers.pop("Content-Length", None)
    return response


def _gzipped(chunks: Iterator[bytes], source: Iterable[str] | Iterable[bytes]) -> Iterator[bytes]:
    """Compress chunks.  source: the response that they come from, which is closed with them."""
    compressor = zlib.compressobj(LEVEL_IN_PIECES, zlib.DEFLATED, _GZIP_HEADER)
    try:
        for chunk in chunks:
            if data := compressor.compress(chunk):
                yield data
        yield compressor.flush()
    finally:
        if (close := getattr(source, "close", None)) is not None:
            close()
