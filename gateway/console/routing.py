"""WebSocket routes of the Control UI."""

from django.urls import path

from gateway.console.consumers import ConsoleConsumer

websocket_urlpatterns = [path("ws/console/", ConsoleConsumer.as_asgi())]
