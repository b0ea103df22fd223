"""A BERT encoder with mean pooling in numpy, over the weights of a safetensors file. One text at a
time and without padding, so that a text's vector does not depend on what else was asked for."""
import json

import numpy

EPSILON = numpy.float32(1e-12)
HEADER_MAX = 1 << 20


def read_safetensors(path):
    """Name to array of every float32 tensor: 8 bytes of header length, a JSON header, the numbers."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if size > HEADER_MAX:
            raise ValueError("%s: a header of %d bytes" % (path, size))
        header = json.loads(file.read(size))
        data = file.read()
    tensors = {}
    for name, about in header.items():
        if name != "__metadata__" and about["dtype"] == "F32":
            start, end = about["data_offsets"]
            tensors[name] = numpy.frombuffer(data[start:end], "<f4").reshape(about["shape"])
    return tensors


def erf(x):
    """Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26; absolute error below 1.5e-7."""
    size = numpy.abs(x)
    t = 1 / (1 + numpy.float32(0.3275911) * size)
    sum_ = numpy.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        sum_ = sum_ * t + numpy.float32(factor)
    return numpy.copysign(1 - sum_ * t * numpy.exp(-size * size), x)


def gelu(x):
    return x * (1 + erf(x * numpy.float32(0.5 ** 0.5))) * numpy.float32(0.5)


class Encoder:
    def __init__(self, path, layers, heads):
        self.tensors = read_safetensors(path)
        self.layers, self.heads = layers, heads
        self.types = self.tensors["embeddings.token_type_embeddings.weight"][0]
        self.dimension = self.types.shape[0]

    def linear(self, name, x):
        return x @ self.tensors[name + ".weight"].T + self.tensors[name + ".bias"]

    def norm(self, name, x):
        x = x - x.mean(axis=-1, keepdims=True)
        x /= numpy.sqrt((x * x).mean(axis=-1, keepdims=True) + EPSILON)
        return x * self.tensors[name + ".weight"] + self.tensors[name + ".bias"]

    def split(self, x):
        """tokens x dimension -> heads x tokens x part"""
        return x.reshape(x.shape[0], self.heads, -1).transpose(1, 0, 2)

    def attention(self, name, x):
        query, key, value = (self.split(self.linear(name + ".self." + part, x)) for part in ("query", "key", "value"))
        scores = query @ key.transpose(0, 2, 1) * numpy.float32(query.shape[2] ** -0.5)
        scores = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = (scores @ value).transpose(1, 0, 2).reshape(x.shape)
        return self.norm(name + ".output.LayerNorm", x + self.linear(name + ".output.dense", mixed))

    def encode(self, tokens):
        """The vector of one text, of length 1."""
        x = (self.tensors["embeddings.word_embeddings.weight"][tokens] + self.types
             + self.tensors["embeddings.position_embeddings.weight"][:len(tokens)])
        x = self.norm("embeddings.LayerNorm", x)
        for number in range(self.layers):
            layer = "encoder.layer.%d" % number
            x = self.attention(layer + ".attention", x)
            inner = self.linear(layer + ".output.dense", gelu(self.linear(layer + ".intermediate.dense", x)))
            x = self.norm(layer + ".output.LayerNorm", x + inner)
        vector = x.mean(axis=0)
        return vector / numpy.linalg.norm(vector)
