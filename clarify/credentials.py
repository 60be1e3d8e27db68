"""What the credentials of well-known providers look like. Pure.

Every shape is anchored by a prefix of its own and bounded by possessive repetition, so that a
search takes time in proportion to the text. None of them matches across white space or a quote.
"""

import re
from dataclasses import dataclass

# After a letter or a digit it is the tail of another word, not the head of a credential.
_ALONE = r"(?<![A-Za-z0-9])"

# Prefix and body, each after the provider's own documentation or its published secret scanner
# rules; a public part (Stripe's pk_, an AWS account id) is none.
_SHAPES = (
    # OpenAI, Anthropic, OpenRouter and those who took over their prefix; a digit tells a key from
    # a hyphenated word.
    r"sk-(?=[A-Za-z_-]{0,80}\d)[A-Za-z0-9_-]{20,}+",
    # as providers repeat a wrong key: half hidden
    r"[rs]k-[A-Za-z0-9_-]{0,40}+\*{3,}+[A-Za-z0-9_*-]*+",
    r"xai-[A-Za-z0-9]{40,}+",
    r"gsk_[A-Za-z0-9]{40,}+",
    r"pplx-[A-Za-z0-9]{40,}+",
    r"r8_[A-Za-z0-9]{30,}+",
    r"hf_[A-Za-z0-9]{30,}+",
    r"nvapi-[A-Za-z0-9_-]{40,}+",
    # GitHub, GitLab, Bitbucket and Atlassian
    r"gh[opsur]_[A-Za-z0-9]{30,}+",
    r"github_pat_[A-Za-z0-9_]{40,}+",
    r"gl(?:pat|dt|rt|ptt|ft|cbt|imt|agent|soat|oas)-[A-Za-z0-9_.-]{20,}+",
    r"AT(?:ATT3|BB|CTT3)[A-Za-z0-9_=-]{20,}+",
    # Slack and Discord
    r"xox[a-z]-(?=[A-Za-z-]{0,40}\d)[A-Za-z0-9-]{10,}+",
    r"xapp-\d-[A-Za-z0-9-]{10,}+",
    r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}+",
    r"(?<=/api/webhooks/)\d{15,}+/[A-Za-z0-9_-]{60,}+",
    r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+",
    # AWS: the id, and the secret that stands beside it
    (
        r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])"
        r"(?:[\s:,;]{1,3}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=]))?"
    ),
    # Google
    r"AIza[A-Za-z0-9_-]{35,}+",
    r"ya29\.[A-Za-z0-9_-]{20,}+",
    r"GOCSPX-[A-Za-z0-9_-]{20,}+",
    # payment, mail, telephony
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}+",
    r"whsec_[A-Za-z0-9+/=]{20,}+",
    r"sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}+",
    r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{30,}+",
    r"SK[0-9a-f]{32}(?![A-Za-z0-9])",
    r"key-[0-9a-f]{32}(?![A-Za-z0-9])",
    # package registries and hosting
    r"npm_[A-Za-z0-9]{36,}+",
    r"pypi-[A-Za-z0-9_-]{50,}+",
    r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}+",
    r"do[opr]_v1_[a-f0-9]{40,}+",
    r"HRKU-[A-Za-z0-9_-]{30,}+",
    r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32,}+",
    r"sbp_[a-f0-9]{40,}+",
    r"dapi[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])",
    r"hv[bs]\.[A-Za-z0-9_-]{24,}+",
    r"tskey-[a-z]{2,10}-[A-Za-z0-9-]{20,}+",
    r"lin_api_[A-Za-z0-9]{32,}+",
    r"ntn_[A-Za-z0-9]{40,}+",
    r"gl(?:c|sa)_[A-Za-z0-9_+/=]{32,}+",
    r"sntry[su]_[A-Za-z0-9_+/=]{40,}+",
    r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{50,}+",
)
# A Telegram token follows `bot` in an address, so only a digit may not stand before it.
_TELEGRAM = r"(?<!\d)\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"
# Three parts when signed, five when encrypted; the first begins with `{"` in base64.
_JWT = r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]*+){1,3}"

CREDENTIAL = re.compile(f"{_ALONE}(?:{'|'.join(_SHAPES)})|{_TELEGRAM}|{_JWT}")

_BASE64 = r"[A-Za-z0-9+/]"
_BREAK = r"(?:\s|\\[nrt]|[\"',])"
# Only what can be a key stands in the block: whatever else is there stays to be seen.
PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rf"{_BREAK}*+"
    # headers, as in `DEK-Info: AES-256-CBC,…` and `Version: …`
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [\w ,.:()/-]{0,100}(?:\s|\\[nr])++)*+"
    # lines: a first long one with capitals and digits in it, which no path or word is
    rf"(?=[A-Za-z+/]{{0,60}}\d)(?=[a-z0-9+/]{{0,60}}[A-Z]){_BASE64}{{40,}}+={{0,2}}{_BREAK}*+"
    rf"(?:{_BASE64}{{16,}}+={{0,2}}{_BREAK}*+)*+"
    # a short last line that no command's name looks like, and the checksum of PGP
    rf"(?:(?=[a-z/]{{0,15}}[A-Z0-9+=]){_BASE64}{{1,15}}+={{0,2}}{_BREAK}*+)?+"
    rf"(?:={_BASE64}{{4}}{_BREAK}*+)?+"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?+"
)


# ---- values that a name announces ---------------------------------------------------------------


@dataclass(frozen=True)
class Head:
    """What stands before a secret.

    Attributes:
        pattern: Ends where the value begins.
        is_weak: It often stands before what is none, so that only a value that looks random counts.
    """

    pattern: re.Pattern[str]
    is_weak: bool = False


_NAME = (
    r"(?:pass(?:word|wd|phrase|code)|(?<![a-z])(?:pass|pwd)|secret|authtoken|token"
    r"|api key(?: provided)?"
    r"|(?:api|access|account|secret|private|encryption|signing|master|shared)[_-]?key)"
)
_WEAK_NAME = r"(?:(?<![a-z])auth|credentials?|session[_-]?id|sessid|signature|(?<![a-z])sig)"
_SEPARATOR = r"(?:\\?[\"'])?[ \t]*+(?:=>|:=|={1,3}|:)[ \t]*+"
_SCHEME = r"(?:bearer|basic|token|apikey|negotiate)[ \t]++"
_SAME_COMMAND = r"[^\n;|&]{0,300}?[ \t]"


def _head(pattern: str, *, is_weak: bool = False) -> Head:
    return Head(re.compile(pattern, re.IGNORECASE), is_weak=is_weak)


HEADS = (
    _head(rf"authorization{_SEPARATOR}(?:\\?[\"'])?(?:{_SCHEME})?"),
    _head(rf"(?<![a-z]){_SCHEME}(?=[a-z0-9._~+/=-]{{8}})", is_weak=True),
    _head(rf"{_NAME}{_SEPARATOR}"),
    _head(rf"{_WEAK_NAME}{_SEPARATOR}", is_weak=True),
    _head(rf"(?<![\w-])--?(?!no-)(?:[a-z0-9]{{1,20}}-){{0,4}}{_NAME}[ \t]++(?!-)"),
    # a line of .netrc, a statement of SQL
    _head(r"\blogin[ \t]++\S{1,100}+[ \t]++password[ \t]++"),
    _head(r"(?:\bidentified[ \t]++by|\bpassword)[ \t]++(?=['\"])"),
    # short options of programs that take a password there
    _head(rf"\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b{_SAME_COMMAND}-p(?=\S)"),
    _head(rf"\b(?:sshpass|docker[ \t]++login|podman[ \t]++login)\b{_SAME_COMMAND}-p[ \t]*+"),
    _head(rf"\bredis-cli\b{_SAME_COMMAND}-a[ \t]++"),
    _head(r"\bcurl\b[^\n]{0,600}?[ \t](?:-u|--user|--proxy-user)[ \t=]*+[\"']?[^\s:\"']{1,100}+:"),
)

QUOTED = re.compile(r"(?P<mark>\\?[\"'])(?P<inner>(?:(?!(?P=mark))[^\n\ufdd0]){1,4096}+)(?P=mark)")
# One word of a shell, without what could begin another; a call of a function is no value.
BARE = re.compile(r"(?P<value>(?:\\[^\n\"'\ufdd0]|[^\s\"'`;|&<>()\\\ufdd0])++)(?!\()")
URL_PASSWORD = re.compile(
    r"(?P<before>://[^\s/:@\"'`]{0,200}:)[^\s/@\"'`;|&<>()${}\\\ufdd0]{1,500}+(?=@)"
)
