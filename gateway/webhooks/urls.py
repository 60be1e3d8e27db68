"""Where endpoints listen; with or without a slash, as senders write it."""

from django.urls import re_path

from gateway.webhooks import views

urlpatterns = [
    re_path(r"^hooks/(?P<name>[-a-zA-Z0-9_]{1,40})/?$", views.webhook, name="webhook"),
]
