"""The words people answer with, by what they mean, in the usual languages. Pure data.

Every word is folded as `clarify.folding.fold` folds what a person types. To teach the reader a
language, add its words here and a file of replies to `tests/unit/clarify/corpus`.
"""

from collections.abc import Iterable, Mapping

import regex

from clarify.folding import fold, tighten


def folded(*lines: str) -> frozenset[str]:
    """The phrases of lines that keep them apart with "|", each folded."""
    return frozenset(fold(phrase) for line in lines for phrase in line.split("|"))


def either(*lines: str) -> str:
    """A pattern that matches any of the phrases, the longest first."""
    phrases = sorted(folded(*lines), key=len, reverse=True)
    return "|".join(regex.escape(phrase) for phrase in phrases)


def _numbered(table: Mapping[int, str]) -> dict[str, int]:
    return {fold(word): number for number, line in table.items() for word in line.split("|")}


LAST = -1  # "the last one", whatever its number is

DECLINES = folded(
    "/skip|skip|skip it|skip this|skip this one|skip that|please skip|no answer|no comment",
    "none of these|none of those|none of them|none of the above|neither|neither of them",
    "neither of these|not any of these|i'd rather not say|i would rather not say",
    "跳过|跳過|略过|略過|跳过吧|不回答|不想回答|都不是|都不要|都不选|都不選|都不行|都不",
    "以上都不是|以上都不要|以上皆非|一个都不要|哪个都不要|没有合适的",
    "رد کن|رد کردن|رد شو|بگذر|صرف نظر|صرف‌نظر|بی‌خیال|بیخیال|هیچکدام|هیچ‌کدام|هیچ کدام",
    "هیچکدوم|هیچ کدوم|هیچ‌کدوم|هیچ یک|هیچ‌یک|هیچکدام از اینها|هیچ کدام از این ها|جواب نمی‌دهم",
    "건너뛰기|건너뛰어|건너뛸게요|건너뛰어 주세요|건너뛰자|스킵|스킵할게요|넘어가|넘어가자",
    "넘어갈게요",
    "해당 없음|해당없음|둘 다 아니야|둘 다 아니에요|모두 아님|다 아니야|다 아니에요",
    "아무것도 아니야",
    "スキップ|スキップします|スキップして|飛ばす|飛ばして|とばして|飛ばしてください|どれでもない",
    "どれでもないです|いずれでもない|どちらでもない|どちらでもないです|該当なし|当てはまらない",
    "überspringen|bitte überspringen|überspring das|überspringe|auslassen|weglassen",
    "keine davon|keiner davon|keines davon|keins davon|nichts davon|keine von denen|weder noch",
    "keine der optionen|keine angabe",
    "passer|ignorer|aucun d'entre eux|aucune de ces options|aucun des deux",
    "omitir|saltar|ninguno de estos|ninguna de estas|ninguno de los anteriores",
    "pular|nenhum desses|nenhuma dessas|salta|nessuno di questi|пропустить|ни один из них",
)

NONE = folded(
    "none|nothing|no one of them|无|無|没有|沒有|都没有|一个也不|هیچ|هیچی|없음|없어요|なし",
    "なしで|特になし",
    "keine|keiner|keines|nichts|aucun|aucune|rien|ninguno|ninguna|nada|nenhum|nenhuma|nessuno",
    "нет|ничего|ни один",
)

ALL = folded(
    "all|all of them|all of these|all of the above|everything|every one|each of them|all options",
    "全部|全都|全都要|全部都选|全选|全選|都要|都选|都選|所有|全要|全部都要|所有选项|همه",
    "همه‌شون|همه شون|همشون",
    "همه موارد|همه‌ی موارد|تمام موارد|همه گزینه ها|همه گزینه‌ها|모두|전부|전부 다|다|모두 다",
    "全て|すべて|ぜんぶ|全部です|全て選択|alle|alles|alle davon|sämtliche|tous|toutes|tout",
    "todos|todas|todo|tudo|tutti|tutte|tutto|все|всё",
)

# Both, all three, all four: everything, where there are just so many.
ALL_OF: Mapping[int, frozenset[str]] = {
    2: folded(
        "both|both of them|all two|两个都要|两者都要|兩個都要|2个都要|هر دو|هردو|هر دوتا",
        "둘 다|둘다|두 개 다",
        "両方|両方とも|どちらも|二つとも|2つとも|beide|alle beide|beides",
    ),
    3: folded(
        "all three|all 3|三个都要|3个都要|三個都要|三个全要|هر سه|هر سه تا|هر ۳|هر ۳ تا",
        "세 개 다|세개 다",
        "셋 다|3개 다|三つとも|3つとも|三つ全部|3つ全部|alle drei|alle 3",
    ),
    4: folded(
        "all four|all 4|四个都要|4个都要|四個都要|四个全要|هر چهار|هر چهار تا|هر ۴|هر ۴ تا",
        "네 개 다|네개 다",
        "넷 다|4개 다|四つとも|4つとも|四つ全部|4つ全部|alle vier|alle 4",
    ),
}

_CARDINALS = _numbered(
    {
        1: "one|一|壹|یک|یه|하나|일|いち|eins|ein|eine|uno|una|um|uma|un|une|один",
        2: "two|二|贰|两|兩|دو|둘|이|に|zwei|dos|dois|duas|due|deux|два",
        3: "three|三|叁|سه|셋|삼|さん|drei|tres|três|tre|trois|три",
        4: "four|四|肆|چهار|넷|사|よん|vier|cuatro|quatro|quattro|quatre|четыре",
        5: "five|五|پنج|다섯|오|ご|fünf|cinco|cinque|cinq|пять",
        6: "six|六|شش|여섯|육|ろく|sechs|seis|sei|шесть",
        7: "seven|七|هفت|일곱|칠|なな|sieben|siete|sete|sette|sept|семь",
        8: "eight|八|هشت|여덟|팔|はち|acht|ocho|oito|otto|huit|восемь",
        9: "nine|九|نه تا|아홉|구|きゅう|neun|nueve|nove|neuf|девять",
        10: "ten|十|ده|열|십|じゅう|zehn|diez|dez|dieci|dix|десять",
    }
)
# Bare, these are a particle, a pronoun or an article rather than a number.
_NOT_ALONE = folded(
    "이|일|사|오|구|に|ご|ein|eine|un|une|um|uma|una|یه|ده|sei|两|兩|さん|なな|よん"
)

_ORDINALS = _numbered(
    {
        1: "first|1st|最初|erstens|اول|اولی|اولین|یکم|첫째|첫|첫번|첫 번|ひとつめ|erste|"
        "erster|erstes|ersten|"
        "premier|première|primero|primera|primer|primeiro|primeira|primo|первый|первая|первое",
        2: "second|2nd|zweitens|دوم|دومی|دومین|둘째|두|두번|두 번|ふたつめ|zweite|zweiter|"
        "zweites|zweiten|"
        "deuxième|seconde|segundo|segunda|secondo|seconda|второй|вторая|второе",
        3: "third|3rd|drittens|سوم|سومی|سومین|셋째|세|세번|세 번|みっつめ|dritte|dritter|"
        "drittes|dritten|"
        "troisième|tercero|tercera|tercer|terceiro|terceira|terzo|terza|третий|третья|третье",
        4: "fourth|4th|viertens|چهارم|چهارمی|چهارمین|넷째|네|네번|네 번|よっつめ|vierte|"
        "vierter|viertes|"
        "vierten|quatrième|cuarto|cuarta|quarto|quarta|четвёртый|четвертый|четвёртая",
        5: "fifth|5th|پنجم|다섯 번|다섯번|fünfte|fünfter|fünftes|cinquième|quinto|quinta|пятый",
        LAST: "last|最后|最後|آخر|آخری|آخرین|마지막|letzte|letzter|letztes|letzten|dernier|"
        "dernière|"
        "último|última|ultimo|ultima|последний|последняя|последнее",
    }
)
# 두/세/네/첫 count only before a counter, and 네 alone is "yes".
_NOT_ALONE_ORDINALS = folded("두|세|네|첫|첫번|첫 번|두번|두 번|세번|세 번|네번|네 번")

CARDINAL_WORDS = frozenset(_CARDINALS)
NUMBER_WORDS: dict[str, int] = {**_CARDINALS, **_ORDINALS}
ORDINAL_WORDS = frozenset(_ORDINALS)
NEEDS_COMPANY = _NOT_ALONE | _NOT_ALONE_ORDINALS

OPTION_NOUNS = either(
    "option|options|opt|choice|number|numbers|item|answer|variant|alternative|选项|選項|方案",
    "第|选择|選擇|#",
    "گزینه|گزینه ی|گزینهی|گزینه های|گزینه‌های|شماره‌های|شماره|شماره ی|شمارهی|مورد|انتخاب",
    "옵션|선택지|선택|번호|보기|選択肢の|選択肢",
    "選択|オプション|番号",
    "optionen|nummern|variante|varianten|nummer|auswahl|antwort|möglichkeit|opción|opcion",
    "opção|opcao|número|numéro|numero",
    "opzione|вариант|номер|choix|réponse",
)
ARTICLES = either("the|der|die|das|den|el|la|le|il|my|mein|meine")
COUNTERS = either(
    "st|nd|rd|th|one|ones|option|choice|answer|variant|一个|一個|个|個|号|號|项|項|条|條|种",
    "種|款|的|那个",
    "那個|选项|選項",
    "番|番目|つ目|個目|目|のやつ|の方|の|のほう|번|번째|번째 것|번째 거|번째 옵션|번 옵션|째",
    "것|거",
    "گزینه|یکی|مین|می",
    "option|nummer|auswahl|antwort|davon|opción|opção|opzione|вариант|choix|er|º|ª|e|ème",
)
THROUGH = either("-|~|to|through|thru|until|bis|到|至|تا|から|부터|a|à|до|..|…")

# After a bare number these say how many, not which: "三个" is three of them, "第三个" the third.
QUANTITIES = folded("个|個|项|项目|条|條|种|種|款|davon")

# Said around an answer, and not part of it.
POLITE_BEFORE = either(
    "please|i choose|i pick|i take|i want|i prefer|i select|i'd like|i would like|i'd prefer",
    "i'd choose|i'd pick|i'd go with|i would go with|i'll take|ill take|ill go with|i'd say",
    "id say|i say|i think|i guess|probably|gimme|give me",
    "can i have|could i have|could you use|could you please use|can you use|i'll go with",
    "i'll choose|i'll pick",
    "i will take|i will go with|i go with|i'm going with|let's go with|lets go with",
    "let us go with",
    "let's use|let's take|let's do|let's pick|go with|go for|choose|pick|select|take|use",
    "my answer is",
    "my choice is|definitely|ok|okay|yes|sure|yeah|yep|then|well|hmm",
    "ja|also gut|na gut|lieber|ich hätte gern|ich hätte gerne|ich nehm|nehm",
    "ich nehme|ich wähle|ich möchte|ich will|ich würde|nimm|nehme|nehmen wir|bitte|dann",
    "gerne|also",
    "我选|我選|我选择|我選擇|我要|我想要|我想选|我想選|选|選|选择|選擇|请选|請選|就选|就選|就",
    "我觉得|我觉得选|还是|还是选|我想|那|要|用|那就|好的|嗯",
    "فکر کنم|فکر میکنم|فکر می کنم|به نظرم|به نظر من|بله|آره|خب|پس|من|لطفا|انتخاب من|انتخابم",
    "همان|همون|네|예|그냥|저는|나는|전|난|제 선택은|私は|僕は|じゃあ|では|はい|やっぱり",
    "やはり",
    "je choisis|je prends|elijo|prefiero|eu escolho|scelgo|я выбираю|выбираю|пожалуйста",
)
POLITE_AFTER = either(
    "i guess|works|works for me|obviously|of course|lol|haha|please|pls|plz|thanks|thank you",
    "thx|then|it is|for me|i think|sounds good|is fine|is good",
    "für mich|passt für mich|bitte|danke|nehmen|wäre gut|passt|比较好|更好|不错|吧|谢谢|謝謝",
    "好了|就行|就好|可以|啦|呢|了|。",
    "です|だ|で|でお願いします|お願いします|をお願いします|でおねがいします|にします|にする",
    "にして|にしてください",
    "でお願い|をお願い|お願い|希望|希望です|を希望|希望します|を希望します|でいい|でいいです",
    "がいいかな|選択|ありがとう|ありがとうございます|がいい|がいいです|を選びます",
    "を選択します|を選ぶ|かな|요|이요|으로|로|으로요|로요",
    "으로 할게요|로 할게요|할게요",
    "으로 해주세요|로 해주세요|으로 해 주세요|로 해 주세요|주세요|입니다|이에요|예요|을 선택",
    "를 선택|이 좋아요|가 좋아요|좋아요|이 좋겠어요|가 좋겠어요|이 좋을 것 같아요",
    "가 좋을 것 같아요|걸로|걸로요|걸로 할게요|걸로 해주세요|걸로 해 주세요",
    "것으로|거로|으로 가죠|로 가죠|부탁해요|부탁드려요|부탁드립니다|감사합니다|고마워요",
    "해주세요|해 주세요",
    "ㄱㄱ|ㅎㅎ|ㅋㅋ",
    "으로 부탁해요|로 부탁해요|으로 부탁드립니다|로 부탁드립니다|선택할게요|선택",
    "لطفا|ممنون|مرسی|را انتخاب میکنم|رو انتخاب میکنم|را می خواهم|رو میخوام|را میخواهم",
    "را انتخاب می کنم",
    "رو انتخاب می کنم|خوبه|باشه|است|بهتره|را ترجیح می دهم|را ترجیح میدهم|رو ترجیح میدم",
    "را ترجیح میدم",
    "s'il vous plaît|s'il te plaît|por favor|per favore|merci|gracias|obrigado|grazie",
    "пожалуйста|спасибо",
)

# Said around an answer, they leave the others out: "only the second", "ドキュメントだけ".
ONLY_BEFORE = either("only|just|nur|bloß|只|只要|只选|只選|仅|僅|فقط|오직")
ONLY_AFTER = either("only|nur|だけ|のみ|만|만요")

# Nothing but a smile or a nod may follow an answer; 👎 and 🤔 say something.
KIND_SIGNS = "👍👌🙏🙂😊😀😄😃😁😉😅🎉🚀✅✔❤💯🤝✨🙌🫡🏻🏼🏽🏾🏿~^"

# Own words with one of these may take back what is chosen beside them.
_NEGATIONS = either(
    "no|not|don't|dont|do not|without|except|never|nicht|kein|keine|keinen|ohne|außer|نه",
    "بدون|به جز|بجز|جز|غیر از|نکن|sans|sauf|sin|excepto|sem|exceto|senza|кроме|без|не",
)
_NEGATIONS_ATTACHED = either(
    "不|别|別|除了|除|没|沒|以外|じゃない|ではない|ない|なし|빼고|말고|제외|아니|안 "
)
NEGATING = regex.compile(rf"(?<!\w)(?:{_NEGATIONS})(?!\w)|{_NEGATIONS_ATTACHED}")

OTHER = folded(
    "other|others|other option|another|something else|anything else|other please specify",
    "other specify|other write your own|other type your own|其他|其它|其他选项|別的|别的|另外",
    "其他請說明|其他请说明",
    "سایر|دیگر|غیره|گزینه دیگر|مورد دیگر|چیز دیگر|기타|다른 것|다른 거|그 외|직접 입력|その他",
    "そのほか|他",
    "andere|anderes|anderer|sonstige|sonstiges|etwas anderes|autre|autre chose|otro|otra|otros",
    "outro|outra|altro|другое|другой",
)
_OTHER_PREFIX = regex.compile(
    rf"^\s*(?:{either('other|something else|其他|其它|سایر|기타|その他|andere|anderes|sonstiges')}"
    rf"|{either('autre|otro|outro|altro|другое')})\s*[:：]\s*(?=\S)",
    regex.IGNORECASE,
)
_ASIDE = regex.compile(r"\s*[(\[（【][^()\[\]]*[)\]）】]\s*$")
_JOINERS = regex.compile(r"\s*[-:,/.…]+\s*")

# Said in any talk, so a piece of a longer label must not be taken for one of these.
SMALL_TALK = folded(
    "yes|no|ok|okay|y|n|yep|yeah|nope|nah|sure|maybe|not|now|the|and|or|for|with|what|why|how|who",
    "when|where|this|that|it|is|are|to|of|on|in|at|hi|hello|thanks|please|wait|help|stop|i|me|you",
    "ja|nein|doch|nicht|oui|non|si|sí|sim|não|да|нет|是|不|好|否|要|对|不是|好的|不要|可以|没有",
    "吗|什么",
    "بله|نه|آره|خیر|باشه|چی|چرا|네|예|아니|아니요|응|왜|뭐|はい|いいえ|うん|いや|何|なぜ",
    "ありがとう",
)


def without_other_prefix(text: str) -> str | None:
    """What follows "other:" in `text`; None if it does not start so."""
    match = _OTHER_PREFIX.match(text)
    return text[match.end() :].strip() if match else None


def is_authored_other(label: str) -> bool:
    """Whether a label only repeats the free answer that is always offered anyway."""
    bare = tighten(_JOINERS.sub(" ", _ASIDE.sub("", fold(label))))
    return bare in OTHER or tighten(fold(label)) in OTHER


def is_one_of(text: str, phrases: Iterable[str]) -> bool:
    """Whether `text`, folded and without marks around it, is one of the folded `phrases`."""
    return tighten(fold(text)) in phrases
