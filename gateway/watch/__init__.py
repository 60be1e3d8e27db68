"""The watchdog: what is wrong in the three layers, since when, and what to do about it ([O1]).

sights      what was looked at, and the findings, as plain values (pure)
judging     which sights are findings, how bad, and what to do (pure)
looking     the sights, counted in the database; each look is a fixed number of queries
incidents   findings that last, as rows; the only writer of their table
alerting    telling a place of them once, and once that they are over (pure decisions)
rounds      one round: look, heal what is safe, write down, tell
"""
