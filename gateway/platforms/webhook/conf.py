"""What staff may set for a receiver of webhooks, and what is wrong with what they set. Pure."""

from gateway.fetching import addresses
from gateway.platforms.webhook import signing
from gateway.platforms.webhook.errors import BadSecret
from gateway.ports import AccountConfig

OPTIONS = ("url",)
SECRET_WORDS = (
    "The credential is the signing secret that the receiver has, too. Make one:"
    f" echo {signing.PREFIX}$(openssl rand -base64 32)"
)


def problems(config: AccountConfig, *, is_private_fine: bool) -> list[str]:
    """What is wrong with the settings of a receiver.

    Args:
        config: The settings; the credential may be several secrets with blanks between them, the
            newest first, while one replaces another.
        is_private_fine: Whoever runs this installation lets it post to private addresses, too.

    Returns:
        One sentence a problem, each saying what to do; none if all is well.
    """
    found = _secret_problems(config.secret)
    url = config.options.get("url", "").strip()
    if not url:
        found.append("The option url is missing: where the webhooks are posted to.")
    else:
        problem = addresses.problem_with_receiver(url, is_private_fine=is_private_fine)
        found += [f"url: {problem}"] if problem else []
    known = ", ".join(OPTIONS)
    found += [
        f"There is no option {name!r} here; there are: {known}."
        for name in config.options
        if name not in OPTIONS
    ]
    return found


def secrets_of(config: AccountConfig) -> list[str]:
    """The secrets that each message is signed with, the newest first."""
    return config.secret.split()


def _secret_problems(credential: str) -> list[str]:
    secrets = credential.split()
    if not secrets:
        return [f"The signing secret is missing. {SECRET_WORDS}"]
    if len(secrets) > 3:
        return ["At most three secrets can be in use at once: the newest first."]
    for secret in secrets:
        try:
            signing.key_of(secret)
        except BadSecret as error:
            return [str(error)]
    return []
