"""Why a request that came to an endpoint is not taken, named for what its sender does next. Pure.

NotTaken                 the request is refused; the words are for whoever looks after the sender
├── Unsigned             nothing in it proves who sent it: sign it as the endpoint expects
├── WrongSignature       what should prove it does not: compare secrets, sign the raw body
├── OutOfTime            it was signed too long ago, or by another clock: send it anew
└── Unreadable           it is genuine and cannot be understood: change what is sent
BadTemplate              a prompt's template is wrong: change it
BadSecret                a secret cannot be used with its scheme: enter another
"""


class NotTaken(Exception):
    """The request is refused; the message is for whoever looks after the sender.

    It never says anything that is not known to everybody who may send: no secret, no signature
    that would have been right, and nothing of an endpoint's settings but what it expects.
    """

    status = 400
    title = "This request cannot be taken"


class Unsigned(NotTaken):
    """Nothing in the request proves who sent it."""

    status = 401
    title = "The request is not signed"


class WrongSignature(NotTaken):
    """What should prove who sent the request does not prove it."""

    status = 401
    title = "The signature is not right"


class OutOfTime(NotTaken):
    """The request is genuine, and was signed too long ago or by a clock that is wrong."""

    status = 401
    title = "The request is too old or too new"


class Unreadable(NotTaken):
    """The request is genuine and cannot be understood."""

    status = 400
    title = "The request cannot be read"


class BadTemplate(Exception):
    """A template for prompts is wrong; the message says where and what to do."""


class BadSecret(Exception):
    """A secret cannot be used with its scheme; the message says why, and quotes nothing."""
