"""The page of the watchdog."""

from django.urls import path

from gateway.watch import views

urlpatterns = [path("health/", views.health, name="health")]
