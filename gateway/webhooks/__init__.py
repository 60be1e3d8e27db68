"""What comes in over signed webhooks, and the endpoints that it comes to ([W1]).

endpoints   made, changed, rotated and switched by staff; only writer of the endpoints
receiving   from a request to a turn: verified, timed, stored once, answered at once
trying      what an endpoint would make of a request, without taking it in
views       HTTP in, HTTP out

How senders prove who they are and what their events say is told in `gateway.platforms.webhook`.
"""
