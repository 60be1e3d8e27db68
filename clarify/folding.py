"""Making two ways of writing the same thing equal. Pure.

Nothing here knows questions: it cleans text for storing and folds it for comparing.
"""

import unicodedata

import regex

# Characters that show nothing although Unicode does not class them as separators or controls:
# the combining grapheme joiner, the Hangul fillers, the Khmer inherent vowels, the Braille blank.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"})
# Direction overrides and isolates let a label read differently from what it is.
_DIRECTION = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
_KEYCAP = "\u20e3"

_WAVE_DASH = "〜"
_DASHES = "‐‑‒–—―−﹣－"
_APOSTROPHES = "‘’‛ʼ＇`´"
_PERSIAN = {
    "ي": "ی",
    "ى": "ی",
    "ك": "ک",
    "ۀ": "ه",
    "ؤ": "و",
    "ة": "ه",
    "أ": "ا",
    "إ": "ا",
    "ٱ": "ا",
}
_MARKS = {
    ord(_WAVE_DASH): "~",
    **dict.fromkeys(map(ord, _DASHES), "-"),
    **dict.fromkeys(map(ord, _APOSTROPHES), "'"),
}
_FOLDED: dict[int, str | None] = {
    **{ord(c): to for c, to in _PERSIAN.items()},
    # Arabic vowel signs and the elongation stroke are written or not as one likes.
    **dict.fromkeys([*range(0x064B, 0x0660), 0x0670, 0x0640]),
    0x0307: None,  # what is left of a Turkish capital dotted I
}

_SENTENCE_MARKS = " .,;:!?…。、，；：！？｡､؟،؛۔·*_\"'“”„«»「」『』()[]{}<>【】《》"
_RECOMMENDED = regex.compile(
    r"\s*[(\[（【]\s*(?:recommended|empfohlen|推荐|推薦|おすすめ|お勧め|推奨|추천|권장|"
    r"توصیه ?شده|پیشنهادی|پیشنهاد ?شده|recommandé|recomendad[oa]|consigliato|рекомендуется)"
    r"\s*[)\]）】]\s*$"
)
_SPACE = regex.compile(r"\s+")


def clean(text: str) -> str:
    """Text that every database, JSON encoder and platform can carry, line ends kept.

    Surrogate pairs are joined, lone ones become U+FFFD; control characters are dropped.
    """
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    joined = joined.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in joined if c in "\n\t" or unicodedata.category(c) != "Cc")


def clean_line(text: str) -> str:
    """As `clean`, on one line, without outer or doubled space or direction overrides."""
    line: str = _SPACE.sub(" ", clean(text).translate(_DIRECTION))
    return line.strip()


def is_blank(text: str) -> bool:
    """Nothing in `text` can be seen: it is empty, white space or zero-width only."""
    return all(not _is_visible(character) for character in text)


def _is_visible(character: str) -> bool:
    if character in _INVISIBLE or "\ufe00" <= character <= "\ufe0f":
        return False
    return unicodedata.category(character) not in _UNSEEN_CATEGORIES


def first_graphemes(text: str, count: int) -> str:
    """The first `count` characters as a person counts them, none of them cut in two."""
    clusters = regex.findall(r"\X", text)
    return "".join(clusters[:count])


def fold(text: str) -> str:
    """`text` without the differences that do not matter when two texts are compared.

    Case, width, digits' script, zero-width characters, white space, kinds of dash and apostrophe,
    Arabic letters of one sound, and Arabic vowel signs are folded. Punctuation stays.
    """
    shown = "".join(c for c in text if _is_kept(c))
    wide = unicodedata.normalize("NFKC", shown.translate(_MARKS)).translate(_FOLDED)
    folded = unicodedata.normalize("NFKC", wide.casefold().translate(_FOLDED))
    spaced: str = _SPACE.sub(" ", "".join(map(_ascii_digit, folded)))
    return spaced.strip()


def _is_kept(character: str) -> bool:
    return (
        character.isspace() or character == " " or (character != _KEYCAP and _is_visible(character))
    )


def _ascii_digit(character: str) -> str:
    """The same digit in ASCII for any script's digit, circled or not; else the character."""
    value = unicodedata.digit(character, None)
    return character if value is None else str(value)


def tighten(folded: str) -> str:
    """Folded text without sentence marks, quotes and brackets around it."""
    return folded.strip(_SENTENCE_MARKS)


def without_recommendation(folded: str) -> str:
    """Folded text without a final "(Recommended)", in the usual languages."""
    bare: str = _RECOMMENDED.sub("", folded)
    return bare or folded


def words(folded: str) -> tuple[str, ...]:
    """The words of folded text in order, a pictogram for one; marks between them are dropped."""
    return tuple(regex.findall(r"[\p{L}\p{M}\p{N}]+|\p{So}", folded))
