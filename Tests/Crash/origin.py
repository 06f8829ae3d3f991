# SPDX-License-Identifier: Apache-2.0
"""A small server of ranges on loopback, whose files can be changed, held back and slowed down."""

import http.server
import re
import threading
import time

SLICE = 64 << 10


class Resource:
    """What one path serves. `rate`: bytes a second, of all its answers together; None: as fast as it goes."""

    def __init__(self, version, rate=None):
        self.version = version
        self.rate = rate
        self.sent = 0
        self.waiting = 0
        self._hold = None
        self._change = threading.Condition()
        self._free_at = 0.0

    def hold(self, offset):
        """Nothing at or behind this offset is sent any more; None lets go."""
        with self._change:
            self._hold = offset
            self._change.notify_all()

    def _admit(self, offset, count):
        """How many bytes may go out now. Waits where there are none."""
        with self._change:
            while self._hold is not None and offset >= self._hold:
                self.waiting += 1
                # Bounded: its client may be gone.
                self._change.wait(10)
                self.waiting -= 1
            if self._hold is not None:
                count = min(count, self._hold - offset)
            pause = 0.0
            if self.rate:
                now = time.monotonic()
                self._free_at = max(self._free_at, now) + count / self.rate
                pause = self._free_at - now
        if pause > 0:
            threading.Event().wait(pause)
        return count

    def _note(self, count):
        with self._change:
            self.sent += count


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        resource = self.server.resources.get(self.path)
        if resource is None:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        # One version for the whole answer, as of a file that is replaced by another.
        version = resource.version
        content, length = version.content, len(version.content)
        condition = self.headers.get("If-Match")
        if condition not in (None, version.etag, "*"):
            self.send_response(412)
            self.send_header("ETag", version.etag)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        start, end = 0, length
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked and self.headers.get("If-Range") in (None, version.etag):
            start = int(asked[1])
            end = min(int(asked[2]) + 1 if asked[2] else length, length)
            if start >= length:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{length}")
                self.send_header("Content-Length", "0")
                return self.end_headers()
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{length}")
        else:
            self.send_response(200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", version.etag)
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        view = memoryview(content)
        try:
            while start < end:
                count = resource._admit(start, min(SLICE, end - start))
                self.wfile.write(view[start:start + count])
                resource._note(count)
                start += count
        except OSError:
            # Whoever asked is gone: killed, that is.
            self.close_connection = True

    def log_message(self, *_):
        pass


class Origin(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        self.resources = {}
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def handle_error(self, *_):
        pass
