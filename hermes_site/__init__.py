"""Composition of the site: settings, routes, the ASGI application and the Celery application."""

from hermes_site.celery import app as celery_app

__all__ = ["celery_app"]
