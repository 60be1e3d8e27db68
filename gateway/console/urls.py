"""Pages of the Control UI."""

from django.urls import path

from gateway.console import views

urlpatterns = [
    path("", views.console, name="console"),
    path("c/<int:conversation_id>/", views.console, name="console-conversation"),
]
