"""The words people approve and refuse with, in the usual languages. Pure data.

Only words that cannot mean the opposite stand here: not "fine", not いいです and not 괜찮아요,
which decline as often as they accept; not 嗯 and not "na ja", which hesitate.
"""

import regex

from clarify.vocabulary import either, folded

_ASSENTS = (
    "yes|yep|yeah|yup|y|yes sir|yes do it|ok|okay|okey|oki|approve|approved|approve it|i approve",
    "i approve it|i approve this|go ahead|go for it|do it|just do it|run it|sure|sure thing",
    "of course|confirm|confirmed|i confirm|proceed|you may|you may proceed|please proceed|allow",
    "allow it|allowed|permitted|agreed|i agree|accept|accepted|lgtm|looks good|looks good to me",
    "absolutely|definitely|certainly",
    "好|好的|好啊|好呀|可以|可以的|行|同意|我同意|批准|我批准|准许|允许|允許|确认|確認|执行|執行",
    "执行吧|請執行|是|是的|对|對|没问题|沒問題|去吧|通过|通過",
    "بله|آره|اره|بلی|باشه|اوکی|اوکیه|تایید|تأیید|تایید شد|تایید می‌کنم|تایید میکنم|تاییده",
    "تأیید می‌کنم|موافقم|اجازه می‌دهم|اجازه میدم|اجازه داری|انجام بده|انجامش بده|اجرا کن|اجراش کن",
    "حتما|برو|ادامه بده|مشکلی نیست",
    "네|예|넵|넹|응|승인|승인해|승인해요|승인할게요|승인합니다|허용|허용해|허용합니다|허가",
    "허가합니다",
    "진행|진행해|진행해요|진행하세요|진행해 주세요|진행해주세요|진행해도 돼요",
    "진행해도 됩니다|실행해",
    "실행해 주세요|실행해주세요|실행하세요|해|해도 돼|해도 돼요|좋아|좋아요|좋습니다|그래|그래요",
    "그렇게 해|그렇게 하세요|그렇게 해주세요|오케이|오키|동의|동의해요|동의합니다|ㅇㅇ",
    "ㅇㅋ|ㄱㄱ|ㅇ",
    "はい|ええ|うん|オーケー|オッケー|おっけー|承認|承認します|承認する|承認です|許可|許可します",
    "許可する|同意|同意します|実行|実行して|実行してください|進めて|進めてください|やって",
    "やってください",
    "どうぞ|もちろん|問題ありません|問題ないです",
    "ja|jo|jawohl|jap|jepp|klar|na klar|okay|einverstanden|genehmigt|genehmige ich|ich genehmige",
    "genehmigen|ich genehmige das|freigegeben|freigeben|bestätigt|ich bestätige|bestätigen",
    "erlaubt",
    "in ordnung|geht klar|passt|mach|mach das|mach es|mach mal|mach ruhig|leg los|los|los gehts",
    "los geht's|ausführen|nur zu|selbstverständlich|natürlich|gerne",
    "да|ага|хорошо|ок|окей|одобряю|разрешаю|подтверждаю|oui|d'accord|sí|vale|claro|adelante|sim",
    "sì|va bene|evet|tamam|نعم|موافق",
    "👍|✅",
)

_EXPLICIT_REFUSALS = (  # whatever follows one of these is the reason
    "deny|denied|i deny|deny it|reject|rejected|reject it|i reject|refuse|refused|i refuse",
    "decline",
    "declined|disapprove|i disapprove|do not approve|don't approve|i don't approve|not approved",
    "do not do it|do not do this|do not do that|don't do it|don't do this|don't do that",
    "dont do it",
    "do not run it|do not run this|do not run that|don't run it|don't run this|don't run that",
    "dont run it|abort|abort it|stop it|stop this|stop that|cancel it|cancel this|cancel that",
    "رد|رد می‌کنم|رد میکنم|رد شد|رد کن|اجازه نمی‌دهم|اجازه نمیدم|انجام نده|اجرا نکن|تایید نمی‌کنم",
    "تایید نمیکنم|مخالفم",
    "거부|거부해|거부해요|거부합니다|거절|거절해요|거절합니다|하지 마|하지마|하지 마세요",
    "하지마세요",
    "하지 마요|하지마요|실행하지 마|실행하지마|실행하지 마세요|승인 안 해요|승인 안 함",
    "ablehnen|abgelehnt|ich lehne ab|lehne ab|lehne ich ab|nicht genehmigt|nicht freigeben",
    "nicht ausführen|mach das nicht|mach es nicht|tu das nicht|tu es nicht|nicht machen",
    "отклоняю|отклонить|запрещаю",
    "拒绝|拒絕|我拒绝|却下|拒否",
    "👎|❌|🛑",
)
_PLAIN_REFUSALS = (  # they refuse alone or before a mark: "no problem" does not
    "no|nope|nah|n|no no|no way|hell no|absolutely not|definitely not|certainly not|of course not",
    "stop|don't|do not|dont|never|cancel|no go|please don't|better not|i'd rather not",
    "不|不行|不可以|不要|不同意|我不同意|不批准|不允许|不允許|不准|不好|不是|不对|不能",
    "不用|不用了|否|别",
    "別|别执行|不要执行|不執行|停|停止|停下|取消|驳回|駁回|算了|禁止",
    "نه|نخیر|خیر|نکن|نکنید|متوقف کن|متوقفش کن|لغو|لغو کن|لغوش کن|ایست|وایسا|بس کن|اصلا|ابدا",
    "아니|아니요|아니오|아뇨|아니야|노|안 돼|안돼|안 돼요|안돼요|안 됩니다|안됩니다|싫어",
    "싫어요|멈춰",
    "멈춰요|멈추세요|그만|그만해|그만하세요|중지|중단|중단해|중단하세요|취소|취소해",
    "취소해 주세요|ㄴㄴ|ㄴ",
    "いいえ|いえ|いや|ううん|だめ|ダメ|駄目|だめです|ダメです|駄目です|やめて",
    "やめてください|やめろ",
    "止めて|止めてください|拒否します|却下します|却下です|中止|中止して|中止してください|ストップ",
    "キャンセル|キャンセルして|しないで|しないでください|実行しないで|実行しないでください",
    "不可|許可しません",
    "承認しません",
    "nein|nee|nö|ne|nicht|bitte nicht|auf keinen fall|niemals|nie|stopp|stop|halt",
    "halt stopp|lass das",
    "lass es|abbrechen|abbruch|verboten|keinesfalls|lieber nicht",
    "нет|не надо|стоп|отмена|non|arrête|não|hayır|para|detente|لا",
)
_COURTESIES = (
    "please|pls|plz|thanks|thank you|thx|ty|thanks a lot|many thanks|bitte|danke|dankeschön",
    "danke schön|vielen dank|bitte schön|请|請|谢谢|謝謝|多谢|麻烦了|麻煩了|辛苦了|لطفا",
    "ممنون|مرسی",
    "متشکرم|سپاس|ممنونم|감사합니다|감사해요|고마워|고마워요|고맙습니다|부탁해|부탁해요|부탁드려요",
    "부탁드립니다|부탁합니다|お願いします|お願い|おねがいします|お願いいたします|お願い致します",
    "よろしくお願いします|ありがとう|ありがとうございます|です|пожалуйста|спасибо|merci",
    "gracias|grazie",
    "por favor|obrigado|obrigada|s'il te plaît|s'il vous plaît",
)
_CONDITIONS = (
    "if|unless|until|except|provided|as long as|wenn|falls|außer|ausser|solange|es sei denn|bevor|"
    "اگر|اگه|مگر|مگه|به شرط|только если|если|sauf|salvo"
)
_CONDITIONS_UNSPACED = (
    "如果|除非|要是|只要|假如|的话|的話|만약|만일|다면|으면|않는 한|もし|なら|たら|ない限り"
)

ASSENT = r"👍[\U0001F3FB-\U0001F3FF]|" + either(*_ASSENTS)
COURTESY = f"(?:{either(*_COURTESIES)})"
COURTESIES = regex.compile(rf"{COURTESY}[\s,.!。！，、،]*")
REFUSAL = either(*_EXPLICIT_REFUSALS)
REFUSALS_WITH_REASON = folded(*_EXPLICIT_REFUSALS)
REFUSALS = folded(*_EXPLICIT_REFUSALS, *_PLAIN_REFUSALS)
CONDITIONS = regex.compile(
    rf"(?<!\w)(?:{either(_CONDITIONS)})(?!\w)|{either(_CONDITIONS_UNSPACED)}"
)
_OUTER_COURTESY = regex.compile(
    rf"^{COURTESY}[\s,]+|(?:[\s,]+|(?<=[\p{{Han}}\p{{Hiragana}}\p{{Katakana}}\p{{Hangul}}])){COURTESY}$"
)
_TONES = dict.fromkeys(range(0x1F3FB, 0x1F400))


def without_courtesy(text: str) -> str:
    """Folded `text` without a courtesy before or after it, and without an emoji's skin tone."""
    bare: str = _OUTER_COURTESY.sub("", text.translate(_TONES))
    return bare.strip()
