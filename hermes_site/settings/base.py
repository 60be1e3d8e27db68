"""Settings for every installation; what differs between two comes from the environment."""

import hashlib
from datetime import timedelta
from pathlib import Path
from typing import Any

from hermes_site.settings import stores
from hermes_site.settings.env import envbool, envint, envlist, envsecret, envtext

BASE_DIR = Path(__file__).resolve().parent.parent.parent
DATA_DIR = Path(envtext("HERMES_DATA_DIR", str(BASE_DIR / "data"))).expanduser().resolve()

# A key that is the same in every process of this installation. `bin/up` makes a random one and
# keeps it in the data directory; a bare `manage.py` on a fresh clone gets one tied to that folder.
SECRET_KEY = envsecret("HERMES_SECRET_KEY")
if not SECRET_KEY and (DATA_DIR / "secret_key").exists():
    SECRET_KEY = (DATA_DIR / "secret_key").read_text(encoding="utf-8").strip()
if not SECRET_KEY:
    SECRET_KEY = "insecure-" + hashlib.sha256(str(DATA_DIR).encode()).hexdigest()

DEBUG = envbool("HERMES_DEBUG")
BASE_URL = envtext("HERMES_BASE_URL", "http://127.0.0.1:8000")
ALLOWED_HOSTS = envlist("HERMES_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = [BASE_URL] if BASE_URL.startswith("https://") else []

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

DATABASE_URL = envsecret("DATABASE_URL", stores.default_database_url(DATA_DIR))
REDIS_URL = envsecret("REDIS_URL", stores.default_redis_url(DATA_DIR))
DATABASES: dict[str, Any] = {
    "default": stores.database(DATABASE_URL, pool_size=envint("HERMES_DB_POOL_SIZE", 16, minimum=2))
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
SESSION_COOKIE_NAME = "hermes_session"
CSRF_COOKIE_NAME = "hermes_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BASE_URL.startswith("https://")
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文"), ("fa", "فارسی")]
TIME_ZONE = envtext("HERMES_TIME_ZONE", "UTC")
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT: Path | None = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True  # no collectstatic step on the embedded default
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
    # Longer than most turns; a task given out twice finds nothing to do the second time.
    "visibility_timeout": 3600,
    "socket_timeout": 10,
    "socket_connect_timeout": 2,
    "unacked_restore_throttle": 1,
}
CELERY_TIMEZONE = TIME_ZONE
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 5
CELERY_BEAT_SCHEDULE = {
    "upkeep": {
        "task": "gateway.upkeep",
        "schedule": timedelta(seconds=2),
        "options": {"queue": "upkeep", "expires": 10},
    },
    "housekeeping": {
        "task": "delivery.housekeeping",
        "schedule": timedelta(minutes=10),
        "options": {"queue": "upkeep", "expires": 600},
    },
    "processes": {
        "task": "gateway.housekeeping",
        "schedule": timedelta(minutes=10),
        "options": {"queue": "upkeep", "expires": 600},
    },
}
DJANGO_CELERY_BEAT_TZ_AWARE = True

# --- Our own apps, each read by that app's conf.py -----------------------------------------------
DELIVERY = {
    "VALIDITY": timedelta(hours=24),
    "MAX_RECOVERIES": 3,
    "KEEP_SETTLED": timedelta(days=7),
}
GATEWAY: dict[str, Any] = {
    "PLATFORMS": ["gateway.platforms.telegram", "gateway.platforms.console"],
    "MAX_CONCURRENT_TURNS": envint("HERMES_MAX_CONCURRENT_SESSIONS", 120, minimum=1),
    "TURN_TIME_LIMIT": timedelta(seconds=envint("HERMES_TURN_TIME_LIMIT", 1800, minimum=1)),
    "ALLOW_ALL_USERS": envbool("HERMES_ALLOW_ALL_USERS"),
    "MAX_MESSAGE_AGE": timedelta(hours=24),
    "MODEL": {
        "name": envtext("HERMES_MODEL", "demo"),
        "base_url": envtext("OPENAI_BASE_URL"),
        "api_key": envsecret("OPENAI_API_KEY"),
        "fallback": envtext("HERMES_FALLBACK_MODEL"),
    },
    "SYSTEM_PROMPT_FILE": envtext("HERMES_SYSTEM_PROMPT_FILE"),
    # Accounts that stand in the environment; the rest stand in the database.
    "ENVIRONMENT_ACCOUNTS": {
        "telegram": {
            "secret": envsecret("TELEGRAM_BOT_TOKEN"),
            "options": {
                "api_base_url": envtext("TELEGRAM_API_BASE_URL"),
                "proxy": envtext("TELEGRAM_PROXY"),
                "home_channel": envtext("TELEGRAM_HOME_CHANNEL"),
            },
            "allowed_users": envlist("TELEGRAM_ALLOWED_USERS"),
            "allow_all": envbool("TELEGRAM_ALLOW_ALL_USERS"),
        },
    },
}

LOG_LEVEL = envtext("HERMES_LOG_LEVEL", "INFO").upper()
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "hermes_site.logs.LineFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        # These log request URLs at INFO, and a Telegram URL holds the bot's token.
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},
        "telegram": {"level": "WARNING"},
        "daphne": {"level": "WARNING"},
        "django.channels.server": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},  # two lines a task are no news
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
        "django_celery_beat": {"level": "WARNING"},
    },
}
