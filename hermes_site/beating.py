"""Beat's scheduler, which says that beat is alive."""

import logging

from django.db import close_old_connections
from django.utils import timezone
from django_celery_beat.schedulers import DatabaseScheduler
from typing_extensions import override

from delivery.database import DATABASE_TROUBLE
from gateway import processes

logger = logging.getLogger(__name__)


class BeatingScheduler(DatabaseScheduler):
    """The schedule of the database; each look at it is a sign of life.

    Beat says so itself, in its own process: whether a worker runs what beat sends is another
    question, and a worker that died must not make beat look dead.
    """

    @override
    def tick(self, *args: object, **kwargs: object) -> float:
        """Do what is due, and say that we are here.

        Returns:
            How long to wait until the next call, in seconds; CELERY_BEAT_MAX_LOOP_INTERVAL at most.
        """
        try:
            processes.beat("beat", now=timezone.now())
        except DATABASE_TROUBLE as error:
            logger.warning("Beat cannot say that it is alive", extra={"error": str(error)})
            close_old_connections()  # or a database that is back would never be noticed
        wait: float = super().tick(*args, **kwargs)
        return wait
