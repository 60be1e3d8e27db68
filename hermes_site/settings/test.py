"""Settings for tests: as in production, but quick to log in and quiet."""

from hermes_site.settings.base import *

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SECRET_KEY = "test-only-key-that-guards-nothing-at-all-0123456789"
SECRET_KEY_FALLBACKS = []
if not env.text("REDIS_URL"):
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    CELERY_BROKER_URL = "memory://"
ALLOWED_HOSTS = ["*"]
GATEWAY["ENVIRONMENT_ACCOUNTS"] = {}
STATIC_ROOT = None  # tests collect nothing, and WhiteNoise warns of a directory that is not there
