"""Who people are: let in by a code, and one person on two platforms; only writer of its tables.

pairing     a stranger asks to be let in, and staff approve the code that they are given
links       one person on two platforms, proved by codes both ways
tries       codes that were wrong, so that nobody guesses one
standing    what is looked up of all this whenever somebody speaks
codes       how a code is spelled and read back
states      the lives of a pairing and of a link, as tables
"""
