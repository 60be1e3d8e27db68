"""A Slack workspace for tests: Web API, Socket Mode and signed requests (`SlackPeer`)."""

from tests.peers.faults import Fault
from tests.peers.server import Gate
from tests.peers.slack.peer import APP_TOKEN, SIGNING_SECRET, TOKEN, SlackPeer
from tests.peers.slack.person import CHANNEL, DM, PERSON
from tests.peers.slack.world import Shown

__all__ = [
    "APP_TOKEN",
    "CHANNEL",
    "DM",
    "PERSON",
    "SIGNING_SECRET",
    "TOKEN",
    "Fault",
    "Gate",
    "Shown",
    "SlackPeer",
]
