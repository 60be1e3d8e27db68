"""Pages of the Control UI."""

from django.urls import path

from gateway.console import views

urlpatterns = [
    path("", views.console, name="console"),
    path("file/<int:number>/", views.file, name="console-file"),
    path("c/<int:conversation_id>/", views.console, name="console-conversation"),
]
