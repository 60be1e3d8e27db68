"""The server that every peer is: what it does with the connections of its callers."""

import socket

from tests.peers.telegram import TelegramPeer

CALL = b"GET / HTTP/1.1\r\nHost: peer\r\n\r\n"


def test_who_calls_while_the_peer_stops_listening_is_cut_and_not_left_waiting() -> None:
    with TelegramPeer() as peer:
        for _ in range(30):
            callers = [socket.create_connection(("127.0.0.1", peer.port)) for _ in range(3)]
            for caller in callers:
                caller.settimeout(10)
                caller.sendall(CALL)
            with peer.refuse():
                for caller in callers:
                    _read_to_the_end(caller)


def _read_to_the_end(caller: socket.socket) -> None:
    with caller:
        try:
            while caller.recv(4096):
                pass
        except ConnectionError:
            pass
