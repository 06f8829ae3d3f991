# SPDX-License-Identifier: Apache-2.0
"""An nginx of the benchmark's own: own configuration, own ports, gone at the end."""

import getpass
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

CONFIGURATION = """\
{user}
worker_processes auto;
pid {folder}/nginx.pid;
error_log {folder}/nginx-error.log warn;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  # Many requests over one connection are what a downloader makes.
  keepalive_requests 1000000;
  client_body_temp_path {folder}/nginx-body;
  proxy_temp_path {folder}/nginx-proxy;
  fastcgi_temp_path {folder}/nginx-fastcgi;
  uwsgi_temp_path {folder}/nginx-uwsgi;
  scgi_temp_path {folder}/nginx-scgi;
  default_type application/octet-stream;
  limit_conn_zone $server_name zone=connections:1m;
  # Of the connections since its start, the {slow}th sends 400 bytes a second, where the server asks for $pace.
  map $connection $pace {{ default 8m; {slow} 400; }}
  ssl_certificate {certificate};
  ssl_certificate_key {folder}/key.pem;
  ssl_protocols TLSv1.2 TLSv1.3;
  server {{
    listen {address}:{plain};
    listen {address}:{tls} ssl;
    root {root};
    {extra}
  }}
}}
"""


class Nginx:
    """Serves one folder, plain and over TLS, while the `with` block lasts."""

    def __init__(self, folder, root, extra="", address="127.0.0.1", slow=0, inside=()):
        """`extra` goes into the server's configuration; `inside` is put before the command that starts it."""
        self.folder = Path(folder)
        self.root = Path(root)
        self.extra = extra
        self.address = address
        self.slow = slow
        self.inside = list(inside)
        self.certificate = self.folder / "certificate.pem"
        self.process = None

    def __enter__(self):
        self._make_certificate()
        # Somebody else may take a port between our asking and nginx's listening: then ask again.
        for _ in range(5):
            self.plain, self.tls = _free_ports(2)
            if self._start():
                return self
        self.stop()
        raise RuntimeError("nginx did not start: " + self._last_words())

    def __exit__(self, *_):
        self.stop()

    def url(self, name):
        return f"http://{self.address}:{self.plain}/{name}"

    def tls_url(self, name):
        return f"https://{self.address}:{self.tls}/{name}"

    def restart(self):
        """A server that remembers nothing, on the same ports."""
        self.stop()
        if not self._start():
            raise RuntimeError("nginx did not start again: " + self._last_words())

    def stop(self):
        """Ends this nginx, which is the process that we started, and no other."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def _start(self):
        configuration = self.folder / "nginx.conf"
        # As root, nginx would give its workers to `nobody`, who cannot read our folder.
        user = f"user {getpass.getuser()};" if os.geteuid() == 0 else ""
        configuration.write_text(CONFIGURATION.format(
            user=user, folder=self.folder, root=self.root, certificate=self.certificate,
            plain=self.plain, tls=self.tls, address=self.address, extra=self.extra, slow=self.slow))
        with open(self.folder / "nginx-stderr.log", "wb") as words:
            self.process = subprocess.Popen(
                [*self.inside, "nginx", "-p", str(self.folder), "-c", str(configuration), "-g", "daemon off;",
                 "-e", str(self.folder / "nginx-error.log")],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=words,
                # Ctrl-C is for us: we stop nginx when nothing asks it for anything any more.
                start_new_session=True)
        limit = time.monotonic() + 5
        while time.monotonic() < limit and self.process.poll() is None:
            if self._answers(self.plain) and self._answers(self.tls):
                return True
            time.sleep(0.02)
        self.stop()
        return False

    def _answers(self, port):
        """Whether somebody listens. Seen from inside of its namespace, where it has one."""
        probe = f"import socket; socket.create_connection(({self.address!r}, {port}), timeout=1).close()"
        done = subprocess.run([*self.inside, sys.executable, "-S", "-c", probe], stderr=subprocess.DEVNULL, check=False)
        return done.returncode == 0

    def _make_certificate(self):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
             "-keyout", str(self.folder / "key.pem"), "-out", str(self.certificate)],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _last_words(self):
        for name in ("nginx-error.log", "nginx-stderr.log"):
            log = self.folder / name
            if log.exists() and log.read_text(errors="replace").strip():
                return log.read_text(errors="replace").strip().splitlines()[-1]
        return "it said nothing"


def _free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()

