"""Files from elsewhere: which address may be reached, and how much may come from there.

addresses   whether a URL, a host or an IP address may be reached; decides only
limits      how much, how long; counts what comes
posting     the same the other way: one body to one URL, and what was answered
guarded     the HTTP client that asks both, for every connection and every redirect
errors      what can go wrong, named for what the caller does next
"""
