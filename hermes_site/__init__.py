"""Composition of the site: settings, routes, the ASGI application and the Celery application."""
