"""Texts to token numbers, as BERT's uncased models want them: clean, split at white space and
punctuation, lower case without accents, then the longest known pieces from the left. What a
`tokenizer.json` of the type WordPiece with a BertNormalizer says, for one vocabulary."""
import unicodedata

WORD_MAX = 100  # characters; a longer word is one unknown token


def is_punctuation(sign):
    # All printable ASCII that is no letter or digit counts, also what Unicode calls a symbol ($, +, ...).
    return (33 <= ord(sign) <= 126 and not sign.isalnum()) or unicodedata.category(sign)[0] == "P"


def is_ideograph(sign):
    code = ord(sign)
    return (0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x2A6DF
            or 0x2A700 <= code <= 0x2CEAF or 0xF900 <= code <= 0xFAFF or 0x2F800 <= code <= 0x2FA1F)


def clean(text):
    """Control characters out, every white space a blank, blanks around Chinese characters."""
    out = []
    for sign in text:
        category = unicodedata.category(sign)
        if sign in "\t\n\r" or sign.isspace() and category[0] != "C":
            out.append(" ")
        elif sign in "\0\ufffd" or category[0] == "C":
            continue
        elif is_ideograph(sign):
            out.append(" " + sign + " ")
        else:
            out.append(sign)
    return "".join(out)


def words(text):
    """Words and single punctuation marks, lower case, without accents."""
    plain = unicodedata.normalize("NFD", clean(text))
    plain = "".join(sign for sign in plain if unicodedata.category(sign) != "Mn").lower()
    for chunk in plain.split():
        start = 0
        for at, sign in enumerate(chunk):
            if is_punctuation(sign):
                if start < at:
                    yield chunk[start:at]
                yield sign
                start = at + 1
        if start < len(chunk):
            yield chunk[start:]


class WordPiece:
    """`limit`: tokens of one text, with those at its beginning and end; the rest is cut."""

    def __init__(self, vocabulary, limit):
        self.numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self.limit = limit
        self.unknown, self.first, self.last = (self.numbers[name] for name in ("[UNK]", "[CLS]", "[SEP]"))

    def pieces(self, word):
        if len(word) > WORD_MAX:
            return [self.unknown]
        out, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self.numbers.get(("##" if start else "") + word[start:end])
                if number is not None:
                    break
            else:
                return [self.unknown]
            out.append(number)
            start = end
        return out

    def encode(self, text):
        out = [self.first]
        for word in words(text):
            out += self.pieces(word)
            if len(out) >= self.limit - 1:
                break
        return out[:self.limit - 1] + [self.last]
