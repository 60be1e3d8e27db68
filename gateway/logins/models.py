"""Failed tries to log in, and from where people usually do."""

from typing import ClassVar

from django.db import models
from typing_extensions import override

from gateway.logins.limits import Count


class LoginTry(models.Model):
    """The failures of one name, address, or both, in a row.

    Names and addresses are kept as digests: people type passwords into the wrong field.
    """

    count = models.CharField(max_length=7, choices=[(one.value, one.value) for one in Count])
    digest = models.CharField(max_length=64)
    failures = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name = "failed logins"
        verbose_name_plural = "failed logins"
        ordering: ClassVar = ["-last_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["count", "digest"], name="one_row_a_login_count"),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.failures} by {self.count}"


class KnownPlace(models.Model):
    """An address from which a name has logged in."""

    digest = models.CharField(max_length=64, unique=True)
    last_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name = "known place"
        ordering: ClassVar = ["-last_at"]

    @override
    def __str__(self) -> str:
        return self.digest[:12]
