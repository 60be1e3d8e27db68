"""What every response of the site carries."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

# Scripts and styles come from files only. Django's admin needs nothing more.
POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self';"
    " connect-src 'self' ws: wss:; frame-ancestors 'none'; base-uri 'self'; form-action 'self';"
    " object-src 'none'"
)


class ContentSecurityPolicy:
    """Set the Content-Security-Policy header."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request, with the header."""
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response
