"""Routes of the site."""

from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.urls import include, path

from gateway.logins.forms import PageLoginForm
from hermes_site import health, metrics

urlpatterns = [
    path("", include("gateway.console.urls")),
    path("", include("gateway.webhooks.urls")),
    path("", include("gateway.doors.urls")),
    path(
        "login/",
        auth_views.LoginView.as_view(template_name="login.html", authentication_form=PageLoginForm),
        name="login",
    ),
    path("logout/", auth_views.LogoutView.as_view(), name="logout"),
    path("admin/", admin.site.urls),
    path("", include("gateway.watch.urls")),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics_page, name="metrics"),
]
