"""Pages of the Control UI."""

urlpatterns: list[object] = []
