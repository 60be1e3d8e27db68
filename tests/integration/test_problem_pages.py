"""What people see in place of a page that cannot be shown: the look of the site, and a way back."""

import re

import pytest
from django.test import Client, override_settings
from django.urls import path, reverse

from hermes_site.urls import urlpatterns as real
from tests import factories

pytestmark = pytest.mark.django_db


def fail(_request):
    raise RuntimeError("a fault of ours")


urlpatterns = [*real, path("fails", fail)]


@pytest.fixture
def reader():
    client = Client(raise_request_exception=False, enforce_csrf_checks=True)
    client.force_login(factories.make_staff("guest", is_superuser=False))
    return client


def looks_like_ours(response) -> bool:
    html = response.content.decode()
    assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son[a-z]+=", html)
    assert "style-src 'self'" in response.headers["Content-Security-Policy"]
    return "console/base.css" in html and f'href="{reverse("console")}"' in html


@pytest.mark.parametrize("address", ["/nope", "/c/999/"])
def test_an_address_without_a_page_leads_back(reader, address):
    response = reader.get(address)

    assert response.status_code == 404
    assert "There is nothing here" in response.content.decode()
    assert looks_like_ours(response)


def test_a_page_that_is_closed_to_the_reader_leads_back(reader):
    response = reader.get(reverse("admin:clarify_prompt_changelist"))

    assert response.status_code == 403
    assert "This page is closed to you" in response.content.decode()
    assert looks_like_ours(response)


def test_a_form_that_cannot_be_checked_says_what_to_do(reader):
    response = reader.post(reverse("logout"))

    assert response.status_code == 403
    assert "Load the page again" in response.content.decode()
    assert looks_like_ours(response)


@override_settings(ROOT_URLCONF="tests.integration.test_problem_pages")
def test_a_fault_of_ours_leads_back_and_shows_nothing_of_it(reader):
    response = reader.get("/fails")

    assert response.status_code == 500
    assert "a fault of ours" not in response.content.decode()
    assert looks_like_ours(response)


@override_settings(ALLOWED_HOSTS=["hermes.example"])
def test_a_site_under_a_strange_name_says_which_setting_it_is(reader):
    response = reader.get("/", headers={"host": "strange.example"})

    assert response.status_code == 400
    assert "HERMES_ALLOWED_HOSTS" in response.content.decode()
    assert looks_like_ours(response)


def test_the_words_are_in_the_language_of_the_reader(reader):
    response = reader.get("/nope", headers={"accept-language": "fa"})

    assert 'lang="fa" dir="rtl"' in response.content.decode()
    assert "There is nothing here" not in response.content.decode()
