"""A few replies in other languages."""

from tests.unit.clarify.corpus.cases import SetTable, Table
from tests.unit.clarify.corpus.english import ENV

REPLIES: Table = [
    (
        ENV,
        {
            "вариант 2": (2,),
            "второй": (2,),
            "opción 2": (2,),
            "la segunda": (2,),
            "le deuxième": (2,),
        },
    ),
]

LETTERED: Table = []

SETS: SetTable = []
