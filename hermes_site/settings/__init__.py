"""The settings of the site. The environment is read here and nowhere else."""

from hermes_site.settings.base import *
