#!/usr/bin/env python3
"""A scripted Anthropic Messages server for tests. Loopback only, standard library only.

    model_server.py SCRIPT.jsonl [--log REQUESTS.jsonl] [--max-seconds 120]

Prints its port alone on the first line, and serves until --max-seconds have passed or its
standard input closes: a test that dies takes its server along. Each POST to a path ending in
/messages takes the next line of the script:

    {"text": "hello"}                           an answer
    {"tool": "Bash", "input": {...}}            one tool call
    {"error": 429, "message": "slow down"}      an HTTP error, with "headers" {...} if given
    "usage": {"input_tokens": 11, ...}          beside text or tool; these are the defaults

A request beyond the script's end gets 403 (which clients do not retry), and so does every other
path; both are in the log, with "line" null. The log has one object a request: method, path, line
(from 1) and body. Keys are never logged, since headers are not.
"""

import argparse
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {
    "input_tokens": 11,
    "output_tokens": 7,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}
KEYS = {"text", "tool", "input", "error", "message", "headers", "usage"}


def read_script(path):
    lines = []
    with open(path, encoding="utf-8") as script:
        for number, text in enumerate(script, 1):
            if not text.strip():
                continue
            line = json.loads(text)
            unknown = set(line) - KEYS
            if unknown or len({"text", "tool", "error"} & set(line)) != 1:
                sys.exit(f"{path}:{number}: one of text, tool, error is needed; {unknown=}")
            lines.append((number, line))
    return lines


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, lines, log):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lines, self.log, self.lock, self.requests = lines, log, threading.Lock(), 0

    def take(self, method, path, body):
        """Numbers the request, gives it its script line, writes the log."""
        with self.lock:
            self.requests += 1
            scripted = method == "POST" and path.split("?")[0].endswith("/messages")
            number, line = self.lines.pop(0) if scripted and self.lines else (None, None)
            if self.log:
                record = {"method": method, "path": path, "line": number, "body": body}
                with open(self.log, "a", encoding="utf-8") as log:
                    log.write(json.dumps(record, ensure_ascii=False) + "\n")
            return self.requests, line


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Standard error belongs to the test."""

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        self.answer("POST", body)

    def do_GET(self):
        self.answer("GET", None)

    do_HEAD = do_GET

    def answer(self, method, body):
        number, line = self.server.take(method, self.path, body)
        if line is None:
            line = {"error": 403, "message": "nothing scripted for this request"}
        if "error" in line:
            self.send_error_line(line)
        elif isinstance(body, dict) and body.get("stream"):
            self.send("text/event-stream", stream(message(number, line, body)))
        else:
            model = body.get("model") if isinstance(body, dict) else None
            self.send("application/json", whole(message(number, line, {"model": model})))

    def send_error_line(self, line):
        status = line["error"]
        kind = ERROR_TYPES.get(status, "api_error")
        text = line.get("message", f"scripted {status}")
        body = {"type": "error", "error": {"type": kind, "message": text}}
        self.send("application/json", whole(body), status, line.get("headers", {}))

    def send(self, content_type, content, status=200, headers=None):
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def message(number, line, body):
    """A complete answer as the Messages API gives it without streaming."""
    if "tool" in line:
        tool = {"type": "tool_use", "id": f"toolu_{number:06}", "name": line["tool"]}
        content, stop = [{**tool, "input": line.get("input", {})}], "tool_use"
    else:
        content, stop = [{"type": "text", "text": line["text"]}], "end_turn"
    return {
        "id": f"msg_{number:06}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model") or "scripted",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {**USAGE, **line.get("usage", {})},
    }


def whole(body):
    return json.dumps(body).encode()


def stream(answer):
    """The same answer as server-sent events, its one block in two pieces."""
    usage, block = answer["usage"], answer["content"][0]
    start = {**answer, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    if block["type"] == "text":
        empty, text = {"type": "text", "text": ""}, block["text"]
        pieces = [{"type": "text_delta", "text": part} for part in halves(text)]
    else:
        empty, text = {**block, "input": {}}, json.dumps(block["input"])
        pieces = [{"type": "input_json_delta", "partial_json": part} for part in halves(text)]
    events = [{"type": "message_start", "message": start}]
    events += [{"type": "content_block_start", "index": 0, "content_block": empty}]
    events += [{"type": "content_block_delta", "index": 0, "delta": piece} for piece in pieces]
    events += [{"type": "content_block_stop", "index": 0}]
    delta = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    events += [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


def halves(text):
    return [text[: len(text) // 2], text[len(text) // 2 :]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("script")
    parser.add_argument("--log")
    parser.add_argument("--max-seconds", type=float, default=120)
    options = parser.parse_args()
    server = Server(read_script(options.script), options.log)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    closed = threading.Thread(target=sys.stdin.buffer.read, daemon=True)
    closed.start()
    closed.join(options.max_seconds)
    # The reading thread may still hold standard input, which a normal exit would wait for.
    os._exit(0)


if __name__ == "__main__":
    main()
