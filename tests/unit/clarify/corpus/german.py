"""Replies in German."""

from tests.unit.clarify.corpus.cases import DECLINED, OWN, SetTable, Table, make_question

DE = make_question("Berlin", "München (Empfohlen)", "Köln")
DE_MANY = make_question("Prüfungen", "Handbuch", "Oberfläche", multi_select=True)

REPLIES: Table = [
    (
        DE,
        {
            "Option 2": (2,),
            "Nummer 2": (2,),
            "Nr. 2": (2,),
            "zwei": (2,),
            "die zweite": (2,),
            "das zweite": (2,),
            "der zweite": (2,),
            "die zweite Option": (2,),
            "die Zweite, bitte": (2,),
            "2. Option": (2,),
            "2 bitte": (2,),
            "bitte 2": (2,),
            "ich nehme 2": (2,),
            "ich nehme die zweite": (2,),
            "dann die erste": (1,),
            "die dritte": (3,),
            "die letzte": (3,),
            "erstens": OWN,
            "München": (2,),
            "MÜNCHEN": (2,),
            "Mu\u0308nchen": (2,),
            "münchen.": (2,),
            "München (empfohlen)": (2,),
            "Ich nehme München": (2,),
            "Köln bitte": (3,),
            "Hamburg": OWN,
            "zwei Server, bitte": OWN,
            "um 14:30 Uhr": OWN,
            "die fünfte": "out_of_range",
            "überspringen": DECLINED,
            "UEBERSPRINGEN": OWN,
            "Keine davon": DECLINED,
            "nichts davon": DECLINED,
            "weder noch": DECLINED,
            "keine": DECLINED,
            "etwas anderes": "own_words",
        },
    ),
    (
        DE_MANY,
        {
            "1 und 3": (1, 3),
            "1, 2 und 3": (1, 2, 3),
            "1 bis 3": (1, 2, 3),
            "alle": (1, 2, 3),
            "alles": (1, 2, 3),
            "Prüfungen und Handbuch": (1, 2),
            "die erste und die dritte": (1, 3),
            "Handbuch, Oberfläche": (2, 3),
            "keine": (),
        },
    ),
]

LETTERED: Table = []

SETS: SetTable = []
