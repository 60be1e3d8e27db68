"""What the model is told about the two asking tools ([Q18]), and the shape of their arguments.

Pure. The schemas say what is welcome; `clarify.schema` says what is accepted, which is more.
"""

from typing import Any

_WHEN = (
    "Ask only when you are blocked on a decision that is the user's to make and that you cannot "
    "settle from the conversation, your tools or a sensible default. Never ask for permission to "
    "continue, never ask the user to confirm your own plan, and never ask for a password, token, "
    "key or any other credential."
)
_HOW = (
    "Put the option you recommend first and end its label with `(Recommended)`. Do not write an "
    '"Other" option: the user can always reply in their own words.'
)

CLARIFY_DESCRIPTION = (
    "Ask the user one question and wait for the reply. "
    f"{_WHEN} Give up to four short choices where the likely answers are known, or leave `choices` "
    f"out for an open question. {_HOW} The result's `user_response` is the chosen choice or the "
    "user's own words. If it says in brackets that there was no reply, go on with your best "
    "judgement and say which assumption you made."
)

ASK_USER_DESCRIPTION = (
    "Ask the user one to three multiple-choice questions at once and wait for the replies. "
    f"{_WHEN} Prefer a single question; never more than three. {_HOW} Each answer comes back as a "
    "list of labels or of the user's own words. After `no_answer` go on with your best judgement, "
    "use any partial answers you were given, and do not ask the same thing again."
)

CLARIFY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["question"],
    "properties": {
        "question": {
            "type": "string",
            "minLength": 1,
            "maxLength": 4000,
            "description": "The question, in the user's language.",
        },
        "choices": {
            "type": "array",
            "maxItems": 4,
            "items": {"type": "string", "minLength": 1, "maxLength": 200},
            "description": "Up to four answers to choose from; leave out for an open question.",
        },
    },
}

_OPTION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["label"],
    "properties": {
        "label": {"type": "string", "minLength": 1, "maxLength": 200},
        "description": {
            "type": "string",
            "maxLength": 1000,
            "description": "What choosing it means, if the label does not say it.",
        },
    },
}

_QUESTION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "header", "question", "options"],
    "properties": {
        "id": {
            "type": "string",
            "pattern": "^[a-z][a-z0-9_]*$",
            "description": "A snake_case name for the answer, unique in this call.",
        },
        "header": {
            "type": "string",
            "minLength": 1,
            "description": "A label of one or two words; cut after 12 characters.",
        },
        "question": {
            "type": "string",
            "minLength": 1,
            "maxLength": 4000,
            "description": "The question in one sentence, in the user's language.",
        },
        "options": {"type": "array", "minItems": 2, "maxItems": 4, "items": _OPTION_SCHEMA},
        "multiSelect": {
            "type": "boolean",
            "default": False,
            "description": "True if several options may be chosen together.",
        },
    },
}

ASK_USER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["questions"],
    "properties": {
        "questions": {"type": "array", "minItems": 1, "maxItems": 3, "items": _QUESTION_SCHEMA},
        "timeoutSeconds": {
            "type": "integer",
            "default": 900,
            "minimum": 30,
            "maximum": 3600,
            "description": "How long to wait for the user, in seconds.",
        },
    },
}
