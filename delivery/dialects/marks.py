"""What a platform lets one mark up in its text, and how much longer that makes it ([D15]). Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import regex

from delivery.layout import Kind, Style, Styles
from delivery.splitting import Scale

# Zero width space: keeps marks and words apart where there is no escape.
APART = "\u200b"
FENCE = "```"
QUOTE = "> "
CODE_KINDS = frozenset({Kind.CODE, Kind.PRE})
_LANGUAGE = regex.compile(r"[\w+#.\-]{1,32}", regex.ASCII)


_TICKS = regex.compile("``(?=`)")


def ticked(code: str) -> str:
    """Code between two backticks, with its own kept apart from them and from each other."""
    return f"`{code.replace('`', f'{APART}`{APART}')}`"


def code_in_block(code: str) -> str:
    """Code in which no three backticks stand together."""
    apart: str = _TICKS.sub(f"``{APART}", code)
    return apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """How text is marked up on one platform.

    Attributes:
        measure: The length of text as sent. Additive.
        pairs: What stands on both sides of bold, italic and struck words. A kind that is missing
            is not shown.
        escape: Words, and whether they begin a line, as they are written.
        costs: How much longer than itself a sign may become by `escape`, or by what follows it.
        link: Words, the same words escaped, and a target: as a link.
        link_cost: How long a link to a target is at most, its words not counted.
        ticked: Code on its line, with what stands on both sides of it.
        code: What else is done to code.
        code_costs: How much longer than itself a character may become by `code`.
        hugs_letters: Whether a mark counts as one only beside what is no punctuation, as the rules
            of CommonMark for delimiters have it; if not, only at the border of a word.
        shy: Signs that undo the marks around words that begin or end with them; such words are
            not marked.
        has_languages: Whether a fence may name the language.
        quotes_code: Whether a fence may stand inside a quote.
    """

    measure: Callable[[str], int]
    pairs: Mapping[Kind, str]
    escape: Callable[[str, bool], str]
    costs: Mapping[str, int]
    link: Callable[[str, str, str], str]
    link_cost: Callable[[str], int]
    ticked: Callable[[str], str] = ticked
    code: Callable[[str], str] = str
    code_costs: Mapping[str, int] = field(default_factory=dict)
    hugs_letters: bool = False
    shy: str = ""
    has_languages: bool = True
    quotes_code: bool = True

    def scale(self) -> Scale:
        """How words weigh: never less than what is written for them."""
        return Scale(self.measure, self.overhead, self.escaped)

    def overhead(self, styles: Styles) -> int:
        """How long the marks for these styles are at most."""
        length = sum(self._overhead(style) for style in styles)
        if len(styles) > 1 and styles[-1].kind is Kind.PRE:
            length += 2 * len(QUOTE)  # before the fences
        return length

    def _overhead(self, style: Style) -> int:
        apart = 2 * self.measure(APART)
        match style.kind:
            case Kind.PRE:
                return 2 * len(FENCE) + len("\n\n") + len(self.language(style))
            case Kind.QUOTE:
                return len(QUOTE)
            case Kind.LINK:
                return apart + self.link_cost(style.value)
            case Kind.CODE:
                return apart + len("``")
            case kind:
                return apart + 2 * len(self.pairs.get(kind, ""))

    def escaped(self, text: str, styles: Styles) -> int:
        """How long words in these styles may become, the marks around them not counted."""
        is_code = any(style.kind in CODE_KINDS for style in styles)
        costs = self.code_costs if is_code else self.costs
        length = self.measure(text) + sum(text.count(sign) * cost for sign, cost in costs.items())
        if is_code:
            length += text.count("`") * 2 * self.measure(APART)
        if lines := text.count("\n"):
            # Marks end with the line, and a quote has its sign on each.
            again = tuple(style for style in styles if style.kind is not Kind.PRE)
            length += lines * self.overhead(again)
        return length

    def language(self, style: Style) -> str:
        """The name of the language that a fence may carry."""
        is_named = self.has_languages and _LANGUAGE.fullmatch(style.value)
        return style.value if is_named else ""
