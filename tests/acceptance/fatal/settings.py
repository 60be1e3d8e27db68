from hermes_site.settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "tests.acceptance.fatal.apps.FatalConfig"]  # noqa: F405
