"""Serves the embedding model over HTTP on 127.0.0.1 until it is ended. Started by
tools/local-embeddings with the Python of its venv; nothing else needs to run it.

    serve.py FOLDER --address-file FILE --pins FILE [--port N]

POST /v1/embeddings takes `model`, `input` (a text or up to 2048) and `encoding_format` ("float"), as
OpenAI's API does; GET /v1/models and /health answer too. Texts over the model's length are cut, as
the model's own settings say. Requests that come together wait for each other: there is one encoder.
"""
import argparse
import http.server
import json
import os
import pathlib
import threading

from encoder import Encoder
from wordpiece import WordPiece

BODY_MAX = 32 << 20
INPUTS_MAX = 2048
SECONDS = 30  # a client that sends nothing for so long is gone


class Refusal(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Model:
    def __init__(self, folder, about):
        vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
        self.name = about["name"]
        self.tokens = WordPiece(vocabulary[:-1] if not vocabulary[-1] else vocabulary, about["tokens"])
        self.encoder = Encoder(folder / "model.safetensors", about["layers"], about["heads"])
        if self.encoder.dimension != about["dimension"]:
            raise ValueError("the weights have dimension %d" % self.encoder.dimension)
        self.lock = threading.Lock()

    def answer(self, body):
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            raise Refusal(400, "the body is no JSON")
        if not isinstance(request, dict):
            raise Refusal(400, "the body is no JSON object")
        if request.get("model") != self.name:
            raise Refusal(404, "no such model; there is %s" % self.name)
        if request.get("encoding_format", "float") != "float":
            raise Refusal(400, "encoding_format can only be float")
        if request.get("dimensions", self.encoder.dimension) != self.encoder.dimension:
            raise Refusal(400, "dimensions can only be %d" % self.encoder.dimension)
        texts = request.get("input")
        texts = [texts] if isinstance(texts, str) else texts
        if not isinstance(texts, list) or not 1 <= len(texts) <= INPUTS_MAX:
            raise Refusal(400, "input must be a text or a list of 1 to %d texts" % INPUTS_MAX)
        if not all(isinstance(text, str) and text for text in texts):
            raise Refusal(400, "input must hold texts that are not empty")
        used, data = 0, []
        with self.lock:
            for index, text in enumerate(texts):
                tokens = self.tokens.encode(text)
                used += len(tokens)
                vector = [round(float(x), 7) for x in self.encoder.encode(tokens)]
                data.append({"object": "embedding", "index": index, "embedding": vector})
        return {"object": "list", "model": self.name, "data": data,
                "usage": {"prompt_tokens": used, "total_tokens": used}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SECONDS

    def reply(self, status, value):
        body = json.dumps(value, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status != 200:
            # What is left of a refused request must not be read as the next one.
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, message):
        self.reply(status, {"error": {"message": message, "type": "invalid_request_error"}})

    def do_GET(self):
        if self.path == "/v1/models":
            self.reply(200, {"object": "list", "data": [{"id": self.server.model.name, "object": "model"}]})
        elif self.path == "/health":
            self.reply(200, {"status": "ok"})
        else:
            self.refuse(404, "no such page")

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if self.path != "/v1/embeddings":
            return self.refuse(404, "only /v1/embeddings is served")
        # A page of another origin cannot send this type without asking first, and is not answered then.
        if self.headers.get_content_type() != "application/json":
            return self.refuse(415, "Content-Type must be application/json")
        if not (length.isascii() and length.isdigit()):
            return self.refuse(411, "a Content-Length is needed")
        if len(length) > 12 or int(length) > BODY_MAX:
            return self.refuse(413, "at most %d bytes" % BODY_MAX)
        try:
            self.reply(200, self.server.model.answer(self.rfile.read(int(length))))
        except Refusal as refusal:
            self.refuse(refusal.status, str(refusal))

    def log_message(self, *_arguments):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--address-file", required=True)
    parser.add_argument("--pins", type=pathlib.Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    model = Model(options.folder, json.loads(options.pins.read_text(encoding="utf-8"))["model"])
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    except OSError:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.model = model
    temporary = options.address_file + ".new"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write("http://127.0.0.1:%d" % server.server_address[1])
    os.replace(temporary, options.address_file)
    server.serve_forever()


if __name__ == "__main__":
    main()
