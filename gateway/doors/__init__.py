"""Where a platform that speaks to us over HTTP comes in: one address for each account.

What a request says, and whether it is really the platform's, its package tells
(`gateway.ports.HearsRequests`). What is to be done there at once is left to the process that
serves the account, which has a connection.
"""
