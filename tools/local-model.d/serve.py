"""Serves one GGUF file over HTTP on 127.0.0.1 until it is ended. Started by tools/local-model with
the Python of its venv; nothing else needs to run it.

The HTTP side is llama.cpp's own server, which the package xllamacpp carries: /v1/models,
/v1/chat/completions (with `tools`, `response_format`, streaming), /health.

    serve.py WEIGHTS.gguf --address-file FILE --model-id NAME --context N [--template FILE]

The server binds a port that the kernel picks; the address is then written to FILE, whole or not at
all, so that a reader never sees half of it.
"""
import argparse
import os
import signal
import sys

import xllamacpp

# llama.cpp's threads wait for each other many times in each token, so a thread that does not get its
# core holds up the other one. On two cores that were busy with other work, two threads wrote 3 tokens
# a second and one thread 24; reading a prompt has longer steps and gains from the second thread.
THREADS_READING = 2
SEED = 20240229


def parameters(options):
    made = xllamacpp.CommonParams()
    made.model.path = options.weights
    made.model_alias = {options.model_id}
    made.hostnames = ["127.0.0.1"]
    made.port = 0
    made.n_ctx = options.context
    # One slot: requests that come together wait in the server's queue. Sequences computed in one
    # batch change each other's rounding, and a benchmark wants the same reply for the same request.
    made.n_parallel = 1
    made.cpuparams.n_threads = options.threads
    made.cpuparams_batch.n_threads = THREADS_READING
    made.n_threads_http = 4
    # Defaults for requests that name no temperature or seed.
    made.sampling.temp = 0.0
    made.sampling.seed = SEED
    # Prompts that alternate (two conversations at once) keep their computed prefix in this much memory.
    made.cache_ram_mib = 512
    made.use_jinja = True
    if options.template:
        with open(options.template, encoding="utf-8") as file:
            made.chat_template = file.read()
    # Only the API: no web page, no slot listing, no pages of other origins.
    made.ui = False
    made.endpoint_slots = False
    made.endpoint_props = False
    made.cors_origins = "http://127.0.0.1"
    return made


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weights")
    parser.add_argument("--address-file", required=True)
    parser.add_argument("--model-id", required=True)
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--template")
    options = parser.parse_args()

    server = xllamacpp.Server(parameters(options))
    if not server.listening_address.startswith("http://127.0.0.1:"):
        sys.exit("serve.py: the server listens at %s, not on 127.0.0.1" % server.listening_address)
    temporary = options.address_file + ".new"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(server.listening_address)
    os.replace(temporary, options.address_file)
    # SIGTERM ends the process by its default action; there is nothing to save.
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
