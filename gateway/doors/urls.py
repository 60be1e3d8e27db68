"""The address of each account, with or without a slash, as people enter it."""

from django.urls import re_path

from gateway.doors import views

urlpatterns = [re_path(r"^in/(?P<slug>[-a-zA-Z0-9_]{1,64})/?$", views.door, name="door")]
