"""Settings for every installation; what differs between two comes from the environment."""

import hashlib
import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hermes_site.settings import stores
from hermes_site.settings.env import Environment
from hermes_site.supervisor import recording

BASE_DIR = Path(__file__).resolve().parent.parent.parent
RISKS = ("NONE", "LOW", "MEDIUM", "HIGH", "CRITICAL")
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
PROXIES = ("http", "https", "socks5", "socks5h")

env = Environment(os.environ)
DATA_DIR = Path(env.text("HERMES_DATA_DIR", str(BASE_DIR / "data"))).expanduser().resolve()
# What a `bin/up` on this directory runs with holds for commands in other shells, too.
_state = recording.read(DATA_DIR)
RECORDED = recording.environment_of(_state)
RECORDED_SECRETS = recording.secrets_of(_state)
env = Environment(os.environ, RECORDED)

# A key that is the same in every process of this installation. `bin/up` makes a random one and
# keeps it in the data directory; a bare `manage.py` on a fresh clone gets one tied to that folder.
SECRET_KEY = env.secret("HERMES_SECRET_KEY")
_key_file = DATA_DIR / "secret_key"
# A line each: the one that counts, then those that `manage.py rotate_key` took out of use.
_kept_keys = _key_file.read_text(encoding="utf-8").split() if _key_file.exists() else []
if not SECRET_KEY and _kept_keys:
    SECRET_KEY = _kept_keys[0]
if not SECRET_KEY:
    SECRET_KEY = "insecure-" + hashlib.sha256(str(DATA_DIR).encode()).hexdigest()
# They open what was encrypted with them, and logins of before go on.
_former_keys = env.secret("HERMES_FORMER_SECRET_KEYS").replace(",", " ").split()
SECRET_KEY_FALLBACKS = [key for key in [*_former_keys, *_kept_keys] if key != SECRET_KEY]

DEBUG = env.flag("HERMES_DEBUG")
BASE_URL = env.address("HERMES_BASE_URL", "http://127.0.0.1:8000")
_base = urlsplit(BASE_URL)
IS_SECURE = _base.scheme == "https"
_port = _base.port or (443 if IS_SECURE else 80)
ALLOWED_HOSTS = env.hosts("HERMES_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = [f"https://{_base.netloc}"] if IS_SECURE else []

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "django_celery_beat",
    "delivery",
    "clarify",
    "gateway",
    "gateway.identity",
    "gateway.schedules",
    "gateway.watch",
    "gateway.logins",
    "gateway.webhooks",
    "hermes_site",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "hermes_site.middleware.ContentSecurityPolicy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "hermes_site.urls"
ASGI_APPLICATION = "hermes_site.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

env.must_be_the_same(RECORDED_SECRETS & {"DATABASE_URL", "REDIS_URL"}, DATA_DIR)
DATABASE_URL = env.secret("DATABASE_URL", stores.default_database_url(DATA_DIR, _state))
REDIS_URL = env.secret("REDIS_URL", stores.default_redis_url(DATA_DIR, _state))
DATABASES: dict[str, Any] = {
    "default": stores.database(
        DATABASE_URL, pool_size=env.integer("HERMES_DB_POOL_SIZE", 16, minimum=2)
    )
}
CHANNEL_LAYERS = {"default": stores.channel_layer(REDIS_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "console"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
# A browser sends a cookie to every port of a host: each installation there needs its own names.
SESSION_COOKIE_NAME = f"hermes_session_{_port}"
CSRF_COOKIE_NAME = f"hermes_csrf_{_port}"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"  # no cookie of its own
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_SECURE
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文"), ("fa", "فارسی")]
TIME_ZONE = env.time_zone("HERMES_TIME_ZONE", "UTC")
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT: Path | None = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True  # no collectstatic step on the embedded default
WHITENOISE_MAX_AGE = 0  # pages ask again after an upgrade; what is unchanged is answered with 304
WHITENOISE_AUTOREFRESH = False

# --- Celery -----------------------------------------------------------------------------------
CELERY_BROKER_URL = stores.broker_url(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_TASK_DEFAULT_QUEUE = "upkeep"
CELERY_TASK_ROUTES = {"gateway.run_turns": {"queue": "turns"}}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# The queue is a hint and a sweep finds what was never woken: a publisher must never hang on it.
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # No list of what was given out and not done: a sweep finds that, and sooner. It cost two trips
    # to the broker a message, a sixth of the worker under load.
    "ack_emulation": False,
    "socket_timeout": 10,
    "socket_connect_timeout": 2,
}
CELERY_TIMEZONE = TIME_ZONE
CELERY_BEAT_SCHEDULER = "hermes_site.beating:BeatingScheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 5  # a sign of life at least this often; see gateway.processes
CELERY_BEAT_SCHEDULE = {
    "upkeep": {
        "task": "gateway.upkeep",
        "schedule": timedelta(seconds=2),
        "options": {"queue": "upkeep", "expires": 10},
    },
    "schedules": {
        "task": "schedules.sweep",
        "schedule": timedelta(seconds=2),
        "options": {"queue": "upkeep", "expires": 10},
    },
    "watchdog": {
        "task": "watch.round",
        "schedule": timedelta(seconds=30),
        "options": {"queue": "upkeep", "expires": 30},
    },
    "housekeeping": {
        "task": "delivery.housekeeping",
        "schedule": timedelta(minutes=10),
        "options": {"queue": "upkeep", "expires": 600},
    },
    "questions": {
        "task": "clarify.housekeeping",
        "schedule": timedelta(minutes=10),
        "options": {"queue": "upkeep", "expires": 600},
    },
    "processes": {
        "task": "gateway.housekeeping",
        "schedule": timedelta(minutes=10),
        "options": {"queue": "upkeep", "expires": 600},
    },
}
CELERY_BEAT_SCHEDULE["webhooks"] = {
    "task": "webhooks.housekeeping",
    "schedule": timedelta(hours=1),
    "options": {"queue": "upkeep", "expires": 600},
}
DJANGO_CELERY_BEAT_TZ_AWARE = True

# --- Our own apps, each read by that app's conf.py -----------------------------------------------
# How long rows are kept; less than two days, and a platform's repetition would be taken for news.
_days = {"minimum": 2, "maximum": 36_500}
DELIVERY = {
    "VALIDITY": timedelta(hours=24),
    "MAX_RECOVERIES": 3,
    "KEEP_SETTLED": timedelta(days=env.integer("HERMES_KEEP_DELIVERIES_DAYS", 7, **_days)),
    "MOST_SETTLED": 200_000,
}
_questions = timedelta(days=env.integer("HERMES_KEEP_QUESTIONS_DAYS", 90, **_days))
CLARIFY = {"KEEP_CLOSED": _questions, "KEEP_PERMITS": _questions}
_quiet_days = env.integer("HERMES_KEEP_CONVERSATIONS_DAYS", 0, maximum=36_500)
GATEWAY: dict[str, Any] = {
    "PLATFORMS": [
        "gateway.platforms.telegram",
        "gateway.platforms.slack",
        "gateway.platforms.console",
        "gateway.platforms.webhook",
    ],
    "MAX_CONCURRENT_TURNS": env.integer("HERMES_MAX_CONCURRENT_SESSIONS", 120, minimum=1),
    "TURN_TIME_LIMIT": timedelta(seconds=env.integer("HERMES_TURN_TIME_LIMIT", 1800, minimum=1)),
    "UNATTENDED": {
        "MAX_BACKGROUND": env.integer("HERMES_MAX_BACKGROUND", 8, minimum=1),
        "BACKGROUND_EACH": env.integer("HERMES_BACKGROUND_EACH", 3, minimum=1),
        "BACKGROUND_TIME_LIMIT": timedelta(
            seconds=env.integer("HERMES_BACKGROUND_TIME_LIMIT", 3600, minimum=1)
        ),
        "MAX_CRON": env.integer("HERMES_MAX_CRON", 8, minimum=1),
        "CRON_TIME_LIMIT": timedelta(
            seconds=env.integer("HERMES_CRON_TIME_LIMIT", 1800, minimum=1)
        ),
        "MAX_WEBHOOK": env.integer("HERMES_MAX_WEBHOOK", 24, minimum=1),
    },
    "ALLOW_ALL_USERS": env.flag("HERMES_ALLOW_ALL_USERS"),
    "MAX_MESSAGE_AGE": timedelta(hours=24),
    "MODEL": {
        "name": env.text("HERMES_MODEL", "demo"),
        "base_url": env.address("OPENAI_BASE_URL"),
        "api_key": env.secret("OPENAI_API_KEY"),
        "fallback": env.text("HERMES_FALLBACK_MODEL"),
    },
    "MODELS": env.items("HERMES_MODELS"),
    # A token is three letters of English or more, and one or two of other scripts.
    "HISTORY_BUDGET": 3 * env.integer("HERMES_HISTORY_TOKENS", 100_000, minimum=1000),
    "PRICES": env.text("HERMES_MODEL_PRICES"),
    "CURRENCY": env.text("HERMES_PRICE_CURRENCY", "USD"),
    "PAIRING": env.choice("HERMES_PAIRING", "ON", ("ON", "OFF")) == "ON",
    "PAIRING_WAITING": env.integer("HERMES_PAIRING_WAITING", 3, minimum=1, maximum=100),
    "ANYONE_MAY_ANSWER": env.flag("HERMES_ANYONE_MAY_ANSWER"),
    "APPROVALS": {
        "TIMEOUT": env.integer("HERMES_APPROVAL_TIMEOUT", 600, minimum=30, maximum=86_400),
        "MEMBERS_UP_TO": env.choice("HERMES_MEMBERS_APPROVE", "high", RISKS),
        "SESSION_UP_TO": env.choice("HERMES_SESSION_APPROVALS", "high", RISKS),
        "SESSION_HOURS": env.integer("HERMES_SESSION_APPROVAL_HOURS", 12, minimum=1, maximum=168),
        "ALWAYS_UP_TO": env.choice("HERMES_LASTING_APPROVALS", "medium", RISKS),
        "ALWAYS_DAYS": env.integer("HERMES_LASTING_APPROVAL_DAYS", 30, minimum=1, maximum=365),
    },
    "SYSTEM_PROMPT_FILE": env.file("HERMES_SYSTEM_PROMPT_FILE"),
    "WORKSPACES": str(DATA_DIR / "workspaces"),
    "SHELL_TOOL": env.flag("HERMES_SHELL_TOOL"),
    "MEDIA": {
        "DIRECTORY": str(
            Path(env.text("HERMES_MEDIA_DIR", str(DATA_DIR / "media"))).expanduser().resolve()
        ),
        "MAX_FILE": env.integer("HERMES_MEDIA_MAX_MB", 128, minimum=1, maximum=4000) * 2**20,
        "ACCOUNT_QUOTA": env.integer("HERMES_MEDIA_ACCOUNT_MB", 2048, minimum=1) * 2**20,
        "TOTAL_QUOTA": env.integer("HERMES_MEDIA_TOTAL_MB", 10_240, minimum=1) * 2**20,
        "KEEP": timedelta(days=env.integer("HERMES_MEDIA_DAYS", 7, minimum=1, maximum=3650)),
        "WAIT": timedelta(seconds=env.integer("HERMES_MEDIA_WAIT", 60, minimum=1, maximum=600)),
    },
    "WEBHOOKS": {
        "ALLOW_PRIVATE": env.flag("HERMES_WEBHOOK_ALLOW_PRIVATE"),
        "KEEP": timedelta(days=env.integer("HERMES_WEBHOOK_DAYS", 30, minimum=4, maximum=3650)),
    },
    "ALERTS_TO": env.items("HERMES_ALERTS_TO"),
    "RETENTION": {
        "EVENTS": timedelta(days=env.integer("HERMES_KEEP_EVENTS_DAYS", 90, **_days)),
        "TURNS": timedelta(days=env.integer("HERMES_KEEP_TURNS_DAYS", 90, **_days)),
        "SESSIONS": timedelta(days=env.integer("HERMES_KEEP_SESSIONS_DAYS", 365, **_days)),
        "CONVERSATIONS": timedelta(days=_quiet_days) if _quiet_days else None,
        "AUDIT": timedelta(days=env.integer("HERMES_KEEP_AUDIT_DAYS", 365, **_days)),
        "FILES": timedelta(days=env.integer("HERMES_KEEP_FILES_DAYS", 30, **_days)),
    },
    # Accounts that stand in the environment; the rest stand in the database.
    "ENVIRONMENT_ACCOUNTS": {
        "telegram": {
            "secret": env.secret("TELEGRAM_BOT_TOKEN"),
            "options": {
                "api_base_url": env.address("TELEGRAM_API_BASE_URL"),
                "proxy": env.address("TELEGRAM_PROXY", schemes=PROXIES),
                "home_channel": env.text("TELEGRAM_HOME_CHANNEL"),
            },
            "allowed_users": env.user_ids("TELEGRAM_ALLOWED_USERS"),
            "allow_all": env.flag("TELEGRAM_ALLOW_ALL_USERS"),
        },
        "slack": {
            "secret": " ".join(
                [
                    env.secret("SLACK_BOT_TOKEN"),
                    env.secret("SLACK_APP_TOKEN"),
                    env.secret("SLACK_SIGNING_SECRET"),
                ]
            ).strip(),
            "options": {
                "events": env.text("SLACK_EVENTS"),
                "channel_replies": env.text("SLACK_CHANNEL_REPLIES"),
                "api_base_url": env.address("SLACK_API_BASE_URL"),
                "proxy": env.address("SLACK_PROXY"),
                "home_channel": env.text("SLACK_HOME_CHANNEL"),
            },
            "allowed_users": env.member_ids("SLACK_ALLOWED_USERS"),
            "allow_all": env.flag("SLACK_ALLOW_ALL_USERS"),
        },
    },
}

TRUSTED_PROXIES = env.networks("HERMES_TRUSTED_PROXIES")
METRICS_TOKEN = env.secret("HERMES_METRICS_TOKEN")

LOG_FORMAT = env.choice("HERMES_LOG_FORMAT", "line", ("LINE", "JSON")).lower()
LOG_LEVEL = env.choice("HERMES_LOG_LEVEL", "INFO", LOG_LEVELS)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "hermes_site.logs.LineFormatter"},
        "json": {"()": "hermes_site.logs.JsonFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        # These write addresses of calls, at INFO or DEBUG, and a Bot API address holds the token.
        # So they stay at WARNING whatever the root's level is.
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},
        "telegram": {"level": "WARNING"},
        "slack_sdk": {"level": "WARNING"},  # at DEBUG, everything that is said
        "daphne": {"level": "WARNING"},
        "django.channels.server": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},  # two lines a task are no news
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
        "django_celery_beat": {"level": "WARNING"},
    },
}
