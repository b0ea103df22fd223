#!/usr/bin/env python3
"""Looks for packages of the Python package index that may carry a language model.

    tools/local-model.d/search.py [--over MB]

Prints numbered series of packages (a model in parts), then each package whose name has a word of the
trade and whose newest version has a file of over MB (default 55) million bytes. What is in them has to
be looked at by hand. It asks for some ten thousand packages and takes several minutes.
"""
import argparse
import collections
import concurrent.futures
import json
import re
import sys
import urllib.request

INDEX = "https://pypi.org"
WORDS = re.compile(
    r"llm|slm|gpt|llama|qwen|gemma|phi[0-9-]|mistral|smol|gguf|ggml|weights|instruct|bundled|offline-|-models?$|-model-|-data-?[0-9]+$|"
    r"chatbot|local-?ai|deepseek|granite|falcon|rwkv|stablelm|minicpm|olmo|bitnet|openelm")
NOT = re.compile(r"llama-index|hermes|langchain|instructor|^odoo")


def names():
    with urllib.request.urlopen(f"{INDEX}/simple/", timeout=300) as page:
        return re.findall(r'href="(?:/simple/)?([^"/]+)/"', page.read().decode())


def largest(name):
    try:
        with urllib.request.urlopen(f"{INDEX}/pypi/{name}/json", timeout=60) as answer:
            about = json.load(answer)
    except (OSError, ValueError):
        return name, None, ""
    return name, max((file["size"] for file in about["urls"]), default=0), about["info"]["summary"] or ""


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--over", type=float, default=55, metavar="MB")
    over = options.parse_args().over * 1e6
    known = names()
    print(f"{len(known)} names", file=sys.stderr)
    series = collections.Counter(m[1] for n in known if (m := re.match(r"(.*-(?:part|shard|chunk)-?)[0-9]+$", n)))
    for name, count in series.most_common():
        if count > 1:
            print(f"series\t{name}\t{count}")
    wanted = [n for n in known if WORDS.search(n) and not NOT.search(n)]
    print(f"{len(wanted)} of them are looked at", file=sys.stderr)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        for name, size, summary in pool.map(largest, wanted):
            failed += size is None
            if size and size > over:
                print(f"package\t{name}\t{size / 1e6:.0f}\t{summary}")
    print(f"{failed} gave no answer", file=sys.stderr)


main()
