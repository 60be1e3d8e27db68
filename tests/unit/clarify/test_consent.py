"""Approving is hard to do by accident ([Q24]); denying is easy, and gives its reason."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clarify.assent import ASSENT, COURTESY, REFUSALS
from clarify.consent import APPROVE, UNCLEAR, Consent, Verdict, read_consent

APPROVING = [
    *("yes", "Yes", "YES!", "yes.", " yes ", "yep", "yeah", "y", "ok", "OK", "Okay.", "ｏｋ"),
    *("approve", "Approved", "I approve", "go ahead", "Go ahead!", "sure", "do it", "confirm"),
    *("yes please", "yes, please", "ok thanks", "please go ahead", "yes, go ahead", "Yes. Do it."),
    *("ok\nthanks", "yes 👍", "👍", "👍🏽", "👍👍", "✅", "ok👍", "LGTM", "y\u200bes"),
    *("好", "好的", "可以", "同意", "批准", "好的，谢谢", "可以。", "没问题", "执行", "好的谢谢"),
    *("بله", "آره", "باشه", "تأیید", "تایید می‌کنم", "بله لطفاً", "بله، ممنون", "موافقم", "برو"),
    *(
        "네",
        "예",
        "넵",
        "승인",
        "승인합니다",
        "네, 진행해 주세요",
        "좋아요",
        "네 감사합니다",
        "ㅇㅇ",
        "ㅇㅋ",
    ),
    *(
        "はい",
        "はい、お願いします",
        "承認します",
        "はい。",
        "どうぞ",
        "オッケー",
        "はいお願いします",
        "うん",
    ),
    *(
        "ja",
        "Ja!",
        "ja bitte",
        "Ja, bitte.",
        "klar",
        "genehmigt",
        "mach das",
        "in Ordnung",
        "Ok, danke",
    ),
    *("да", "oui", "sí", "sim", "Да, пожалуйста"),
]

DENYING = {
    **dict.fromkeys(
        ["no", "No.", "NO!", "nope", "n", "deny", "Denied", "stop", "don't", "dont"], ""
    ),
    **dict.fromkeys(["don’t do it", "no thanks", "No, thank you!", "please don't", "no, stop"], ""),
    **dict.fromkeys(["no no", "No way", "👎", "👎🏿", "❌", "cancel", "abort", "stop it"], ""),
    "no, wrong server": "wrong server",
    "No. Wrong server!": "Wrong server!",
    "no - the disk is nearly full": "the disk is nearly full",
    "no: use the copy": "use the copy",
    "no (wrong server)": "wrong server",
    "no\nwrong server": "wrong server",
    "deny wrong server": "wrong server",
    "reject, too risky": "too risky",
    "don't do it on prod": "on prod",
    "don't run it, the backup is missing": "the backup is missing",
    "no, stop, that is Ada's machine": "that is Ada's machine",
    "no, make sure there is a backup first": "make sure there is a backup first",
    "👎 wrong folder": "wrong folder",
    "STOP! that is production": "that is production",
    **dict.fromkeys(
        ["不", "不行", "不可以", "拒绝", "不要", "取消", "别", "算了", "不用了，谢谢"], ""
    ),
    "不行，服务器不对": "服务器不对",
    "不要。太危险了": "太危险了",
    "拒绝 服务器错了": "服务器错了",
    **dict.fromkeys(["نه", "نه!", "خیر", "نکن", "لغو", "نه ممنون", "اجازه نمی‌دهم", "رد می‌کنم"], ""),
    "نه، سرور اشتباه است": "سرور اشتباه است",
    **dict.fromkeys(
        ["아니요", "아뇨", "안 돼요", "안돼", "거부", "하지 마세요", "취소", "ㄴㄴ", "멈춰!"], ""
    ),
    "아니요, 서버가 틀렸어요": "서버가 틀렸어요",
    "거부합니다 잘못된 서버": "잘못된 서버",
    **dict.fromkeys(
        ["いいえ", "だめ", "ダメです", "やめて", "却下", "中止", "やめてください。"], ""
    ),
    "いいえ、サーバーが違います": "サーバーが違います",
    **dict.fromkeys(
        ["nein", "Nein!", "nein danke", "Nein, danke.", "stopp", "abgelehnt", "nee"], ""
    ),
    "nein, falscher Server": "falscher Server",
    "Abgelehnt weil Freitag": "weil Freitag",
    **dict.fromkeys(["нет", "non", "não"], ""),
}

UNDECIDED = [
    *("", " ", "\u200b", ".", "?", "please", "thanks", "🙏", "😀", "hm", "maybe", "1", "A"),
    *("yes?", "ok?", "yes？", "no?", "🤔", "are you sure", "why", "what does it do?", "no, why?"),
    *("yes but not now", "yes, but only on staging", "ok let me think", "not yet", "yes and no"),
    *("no problem go ahead", "no problem", "no worries", "no, problem solved, go ahead"),
    *("no, go ahead", "no, it's ok", "no, I mean yes", "No. Yes.", "yes no", "yes, no", "ok no"),
    *("not ok", "not approved yet?", "do not stop", "don't stop", "don't worry", "stop asking"),
    *(
        "no, don't deny it",
        "yes...",
        "ok…",
        "yes,",
        "yes, and",
        "ok ok, later",
        "yes if it is safe",
    ),
    *("no, unless there is a backup", "only if it is staging", "after lunch", "yes to the first"),
    *(
        "I said yes to the other one",
        "yesterday",
        "okra",
        "approve A2",
        "yes/no",
        '"yes"',
        "~~yes~~",
    ),
    *("y̶e̶s̶", "yes!?", "oh yes I remember", "is it ok", "fine", "whatever", "yes " * 60),
    *("yes\n\nwait", "okay then", "wait", "go", "I don't approve of this tone but go ahead"),
    *(
        "好吗",
        "好不好",
        "可以吗？",
        "不错",
        "不好意思，可以",
        "好吧",
        "好。。。",
        "好的，但是等一下",
        "嗯",
    ),
    *(
        "可以不可以",
        "还没",
        "等等",
        "不行，除非有备份",
        "是不是",
        "没问题吗",
        "我不同意这个说法，但可以",
    ),
    *(
        "بله؟",
        "نه؟",
        "نه مشکلی نیست",
        "نه، باشه",
        "هنوز نه",
        "بله ولی نه الان",
        "شاید",
        "باشه بعدا",
    ),
    *(
        "네?",
        "괜찮아요",
        "됐어요",
        "네 그런데 지금은 말고",
        "아직",
        "아니, 좋아",
        "글쎄요",
        "네네?",
    ),
    *(
        "はい？",
        "いいです",
        "結構です",
        "大丈夫です",
        "はい、でも後で",
        "まだ",
        "いいえ、どうぞ",
        "いいよ",
    ),
    *(
        "ja?",
        "ja aber nicht jetzt",
        "noch nicht",
        "na ja",
        "naja",
        "jein",
        "nein, mach das",
        "ja, wenn…",
    ),
    *("nein, außer es ist staging", "kein Problem", "vielleicht", "ja...", "да?", "да нет", "si"),
]


@pytest.mark.parametrize("text", APPROVING)
def test_words_of_assent_and_nothing_else_approve(text: str) -> None:
    assert read_consent(text) == APPROVE


@pytest.mark.parametrize(("text", "reason"), DENYING.items())
def test_a_refusal_denies_and_the_rest_is_the_reason(text: str, reason: str) -> None:
    assert Consent(Verdict.DENY, reason) == read_consent(text)


@pytest.mark.parametrize("text", UNDECIDED)
def test_a_question_a_condition_or_both_at_once_decides_nothing(text: str) -> None:
    assert read_consent(text) == UNCLEAR


def test_a_refusal_as_long_as_a_novel_is_not_searched() -> None:
    assert read_consent("no, " * 50_000) == UNCLEAR
    assert read_consent("no, " * 900).verdict is Verdict.DENY
    assert read_consent("yes " * 50_000) == UNCLEAR


KNOWN = [word for word in APPROVING if len(word.split()) == 1]
FOREIGN = [
    "but",
    "not",
    "later",
    "1",
    "🤔",
    "?",
    "？",
    "wait",
    "不",
    "nicht",
    "말고",
    "でも",
    "ولی",
    "no",
]
ANYTHING = st.text(max_size=80) | st.lists(
    st.sampled_from([*KNOWN, *FOREIGN, *sorted(REFUSALS), " ", ",", "\n", "please", "…", "‼"]),
    max_size=6,
).map(" ".join)


@settings(max_examples=200, deadline=None)
@given(ANYTHING)
def test_any_text_has_one_verdict_and_only_a_denial_has_a_reason(text: str) -> None:
    consent = read_consent(text)

    assert consent == read_consent(text)
    assert consent.verdict is Verdict.DENY or not consent.reason
    assert (
        consent.reason in text.replace("\r\n", "\n").replace("\r", "\n") or not text.isprintable()
    )


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(APPROVING), st.sampled_from(FOREIGN), st.sampled_from([" ", ", ", "\n", ". "])
)
def test_one_foreign_word_anywhere_and_it_is_no_approval(yes: str, word: str, gap: str) -> None:
    assert read_consent(f"{yes}{gap}{word}") != APPROVE
    assert read_consent(f"{word}{gap}{yes}") != APPROVE


@settings(max_examples=200, deadline=None)
@given(ANYTHING)
def test_whatever_approves_is_made_of_known_words_alone(text: str) -> None:
    if read_consent(text) != APPROVE:
        return
    left = _without_known_words(text)

    assert left.strip(" \t\n,.!。！、，،\u200b\ufe0f") == ""


def _without_known_words(text: str) -> str:
    import regex

    from clarify.folding import fold

    return regex.sub(rf"(?:{ASSENT})(?!\w)|{COURTESY}", "", fold(text))


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(sorted(REFUSALS)), st.sampled_from(KNOWN), st.sampled_from([" ", ", ", ". "])
)
def test_a_refusal_with_assent_beside_it_is_neither(no: str, yes: str, gap: str) -> None:
    assert read_consent(f"{no}{gap}{yes}") != APPROVE
    assert read_consent(f"{yes}{gap}{no}") == UNCLEAR
