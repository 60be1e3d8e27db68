"""Which addresses may be reached."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.fetching import addresses
from gateway.fetching.errors import Forbidden

# B130: services of the machine, its network and its cloud, and other schemes.
INTERNAL = (
    "http://169.254.169.254/latest/meta-data/",
    "http://127.0.0.1:8000/admin",
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://localhost./",
    "http://LOCALHOST/",
    "http://box.localhost/",
    "file:///etc/passwd",
    "gopher://x",
    "ftp://example.org/file",
    "data:text/plain,hello",
    "//example.org/file",
    "/etc/passwd",
    "http://10.0.0.5/x.png",
    "http://user:pw@127.0.0.1/",
    "http://user:pw@example.org/",
    "http://@example.org/",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://168.63.129.16/machine",
    "http://172.16.9.9/",
    "http://192.168.1.1/",
    "http://0.0.0.0/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://[ff02::1]/",
    "http://[::]/",
)
# B132: the same addresses in other notations.
DISGUISED = (
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0X7F.0.0.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.0.1./",
    "http://017700000001/",
    "http://１２７.0.0.1/",
    "http://127。0。0。1/",
    "http://①②⑦.0.0.1/",
    "http://%31%32%37.0.0.1/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::a00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    "http://[fe80::1%25eth0]/",
    "http://[2606:2800::1%25lo]/",
    "http://1.2.3.4.5/",
    "http://256.1.1.1/",
)
BROKEN = (
    "",
    "http://",
    "http:///path",
    "http://exa mple.org/",
    "http://example.org\\@127.0.0.1/",
    "http://example.org\t/",
    "http://example.org/\r\nHost: 127.0.0.1",
    "http://example.org:99999/",
    "http://example.org:x/",
    "http://[::1/",
    "http://[not-an-address]/",
    "http://" + "a" * 64 + ".org/",
    "http://" + "a." * 200 + "org/",
    "http://example.org/" + "a" * 5000,
    "http://..../",
)


@pytest.mark.parametrize("url", [*INTERNAL, *DISGUISED, *BROKEN])
def test_what_is_not_a_public_address_is_refused(url):
    with pytest.raises(Forbidden) as refused:
        addresses.read(url)

    assert str(refused.value).endswith(".")
    assert "pw" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "origin", "path"),
    [
        ("http://example.org", ("http", "example.org", 80), "/"),
        ("https://Example.ORG/a b.png".replace(" ", "%20"), ("https", "example.org", 443), None),
        ("https://example.org:443/x?a=1&b=%20#part", ("https", "example.org", 443), "/x?a=1&b=%20"),
        ("http://93.184.216.34/x", ("http", "93.184.216.34", 80), "/x"),
        ("http://[2606:2800:220:1::1]/x", ("http", "2606:2800:220:1::1", 80), "/x"),
        ("https://bücher.example/ü", ("https", "xn--bcher-kva.example", 443), "/%C3%BC"),
        ("https://files_1.example.org/", ("https", "files_1.example.org", 443), "/"),
    ],
)
def test_a_public_address_is_taken_apart(url, origin, path):
    target = addresses.read(url)

    assert target.origin == origin
    assert path is None or target.path == path


def test_only_the_usual_ports_are_connected_to_unless_others_are_named():
    with pytest.raises(Forbidden, match="Port 6379"):
        addresses.read("http://example.org:6379/")

    assert addresses.read("http://example.org:8443/", ports=frozenset({8443})).port == 8443


def test_the_host_header_names_a_port_only_where_it_is_not_the_usual_one():
    ports = frozenset({80, 443, 8443})

    assert addresses.read("http://example.org:443/", ports=ports).authority == "example.org:443"
    assert addresses.read("https://example.org:443/", ports=ports).authority == "example.org"
    assert addresses.read("http://[2606:2800::1]/", ports=ports).authority == "[2606:2800::1]"


@pytest.mark.parametrize("location", [*INTERNAL[:4], "file:///etc/passwd", "//127.0.0.1/", "\\\\h"])
def test_a_redirect_is_read_as_strictly_as_the_first_address(location):
    with pytest.raises(Forbidden):
        addresses.follow(addresses.read("http://example.org/"), location)


def test_a_redirect_may_be_relative():
    there = addresses.follow(addresses.read("https://example.org/a/b?c"), "../d?e")

    assert str(there) == "https://example.org/d?e"


def test_a_redirect_from_https_to_http_is_refused():
    with pytest.raises(Forbidden, match="unprotected"):
        addresses.follow(addresses.read("https://example.org/"), "http://example.org/")


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_no_ipv4_address_is_let_through_inside_an_ipv6_one(number):
    high, low = number >> 16, number & 0xFFFF
    for prefix in ("::ffff", "64:ff9b:", "2002", ":"):
        wrapped = (
            f"{prefix}:{high:x}:{low:x}::" if prefix == "2002" else f"{prefix}:{high:x}:{low:x}"
        )
        assert addresses.problem_with_address(wrapped), wrapped


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    for url in (text, f"http://{text}/"):
        try:
            target = addresses.read(url)
        except Forbidden:
            continue
        assert target.scheme in {"http", "https"}
        assert not addresses.is_literal(target.host) or not addresses.problem_with_address(
            target.host
        )
        assert str(target).isascii()


@given(st.text(max_size=40))
def test_what_is_no_address_at_all_may_not_be_connected_to(text):
    assert addresses.is_literal(text) or addresses.problem_with_address(text)
