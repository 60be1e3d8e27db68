"""WebSocket routes of the Control UI."""

websocket_urlpatterns: list[object] = []
