"""Which errors of Django say that the database is away, or in trouble: for those who go on."""

from django.db import DatabaseError, InterfaceError, OperationalError

# It cannot be reached, or is too busy: nothing would go better now, the same works later.
DATABASE_AWAY = (OperationalError, InterfaceError)
# The same, or it refused a statement: for loops that go on whatever it says.
DATABASE_TROUBLE = (DatabaseError, InterfaceError)
