"""Guessing of passwords is slowed down, for guessers and for nobody else ([X1]).

limits    how many tries are free, and how long one waits after that (pure)
tries     the failures of names, addresses and both, as rows; the only writer of their table
forms     the login form of every page
"""
