#!/usr/bin/env python3
"""serve.py FOLDER: serves a folder to a browser on a free port, whose number it prints first, and then prints what the
browser posts, a line each. What it posts to a name is kept as that file."""
import http.server
import pathlib
import sys
import urllib.parse

folder = pathlib.Path(sys.argv[1])


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments):
        super().__init__(*arguments, directory=folder)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/":
            print(body.decode(), flush=True)
        else:
            (folder / pathlib.PurePath(urllib.parse.unquote(self.path)).name).write_bytes(body)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
    print(server.server_port, flush=True)
    server.serve_forever()
