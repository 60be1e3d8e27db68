"""What is shown to people: nothing secret, nothing invisible, not too much."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from clarify.redaction import HIDDEN, excerpt, redact, visible

# Credentials are put together here, so that no scanner takes this file for a leak.
HEX = "0123456789abcdef" * 5
MIXED = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 4
UPPER = "ABCD2345EFGH6723IJKL"
LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
JWT = f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{MIXED[:43]}"
ENCRYPTED_KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,12AB\n\n"
    f"{LINE}\n-----END RSA PRIVATE KEY-----"
)
PGP_KEY = (
    f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG\n\n{LINE}\n=aB3d\n"
    "-----END PGP PRIVATE KEY BLOCK-----"
)

CREDENTIALS = [
    f"sk-{MIXED[:48]}",
    f"sk-proj-{MIXED[:60]}",
    f"sk-svcacct-{MIXED[:60]}",
    f"sk-ant-api03-{MIXED[:80]}",
    f"sk-or-v1-{HEX[:64]}",
    f"sk-ab{'*' * 30}wxyz",
    f"xai-{MIXED[:80]}",
    f"gsk_{MIXED[:52]}",
    f"r8_{MIXED[:37]}",
    f"hf_{MIXED[:34]}",
    f"ghp_{MIXED[:36]}",
    f"gho_{MIXED[:36]}",
    f"ghs_{MIXED[:36]}",
    f"github_pat_{MIXED[:22]}_{MIXED[:59]}",
    f"glpat-{MIXED[:20]}",
    f"gldt-{MIXED[:20]}",
    f"ATATT3{MIXED[:60]}",
    f"xoxb-123456789012-1234567890123-{MIXED[:24]}",
    f"xoxp-123456789012-{MIXED[:32]}",
    f"xapp-1-A012345-{HEX[:64]}",
    f"https://hooks.slack.com/services/T0123456/B0123456/{MIXED[:24]}",
    f"https://discord.com/api/webhooks/123456789012345678/{MIXED[:68]}",
    f"M{MIXED[:25]}.{MIXED[:6]}.{MIXED[:38]}",
    f"AKIA{UPPER[:16]}",
    f"ASIA{UPPER[:16]}",
    f"AIza{MIXED[:35]}",
    f"ya29.{MIXED[:60]}",
    f"GOCSPX-{MIXED[:28]}",
    f"sk_live_{MIXED[:24]}",
    f"rk_test_{MIXED[:24]}",
    f"whsec_{MIXED[:32]}",
    f"SG.{MIXED[:22]}.{MIXED[:43]}",
    f"SK{HEX[:32]}",
    f"key-{HEX[:32]}",
    f"npm_{MIXED[:36]}",
    f"pypi-AgEIcHlwaS5vcmc{MIXED[:80]}",
    f"dckr_pat_{MIXED[:27]}",
    f"dop_v1_{HEX[:64]}",
    f"shpat_{HEX[:32]}",
    f"dapi{HEX[:32]}",
    f"hvs.{MIXED[:90]}",
    f"lin_api_{MIXED[:40]}",
    f"glsa_{MIXED[:32]}_{HEX[:8]}",
    f"123456789:{MIXED[:35]}",
    f"https://api.telegram.org/bot123456789:{MIXED[:35]}/getMe",
    JWT,
    f"eyJhbGciOiJSU0EtT0FFUCJ9.{MIXED[:40]}.{MIXED[:16]}.{MIXED[:30]}.{MIXED[:22]}",
]

# The line, and the part of it that must not be seen.
ANNOUNCED = [
    ("PGPASSWORD=hunter2 psql -h db", "hunter2"),
    ("export MYSQL_PWD=hunter2", "hunter2"),
    ("DB_PASS='hunter2 with spaces' ./run", "hunter2 with spaces"),
    ('password="p;w&d|x" ./run', "p;w&d|x"),
    ("mysqldump --password=hunter2 shop", "hunter2"),
    ("tool --password hunter2 --verbose", "hunter2"),
    ('tool --db-password "hunter2"', "hunter2"),
    ("tool --api-key abc123def", "abc123def"),
    ("tool --token=abc123def", "abc123def"),
    ("tool --client-secret abc123def", "abc123def"),
    ("mysql -u root -phunter2 shop", "hunter2"),
    ("mysql -u root -p'hunter2' shop", "hunter2"),
    ("sshpass -p hunter2 ssh host", "hunter2"),
    ("docker login -u me -p hunter2 registry", "hunter2"),
    ("redis-cli -h cache -a hunter2 info", "hunter2"),
    ("curl -u me:hunter2 https://api.example.org", "hunter2"),
    ("curl --user 'me:hunter2' https://api.example.org", "hunter2"),
    ("openssl rsa -passin pass:hunter2 -in key.pem", "hunter2"),
    ("curl -H 'Authorization: Bearer abc123' https://x", "abc123"),
    ('curl -H "Authorization: Basic dXNlcjpwYXNz"', "dXNlcjpwYXNz"),
    ('curl -H "Authorization: token abc123"', "abc123"),
    ('curl -H "Authorization: abc123"', "abc123"),
    ('{"Authorization": "Bearer abc.def-123"}', "abc.def-123"),
    ("Proxy-Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    (f"sent with bearer {HEX[:32]}", HEX[:32]),
    ("curl -H 'X-Api-Key: abc123'", "abc123"),
    ("PRIVATE-TOKEN: abc123", "abc123"),
    ("X-Auth-Token: abc123", "abc123"),
    ("Cookie: sessionid=abc123def; csrftoken=xyz987", "abc123def"),
    ("Cookie: sessionid=abc123def; csrftoken=xyz987", "xyz987"),
    ("postgres://app:hunter2@db:5432/shop", "hunter2"),
    ("redis://:hunter2@cache:6379/0", "hunter2"),
    ("git clone https://me:hunter2@git.example.org/x.git", "hunter2"),
    ("https://x.example.org/file?sig=a1B2c3D4e5&name=x", "a1B2c3D4e5"),
    ("https://x.example.org/api?access_token=abc123&name=x", "abc123"),
    ("password: hunter2", "hunter2"),
    ("password: 'hunter2'", "hunter2"),
    ("  token: abc123  # of the bot", "abc123"),
    ("secret_key: abc,def", "abc,def"),
    ('{"password": "hunter2", "user": "me"}', "hunter2"),
    ('{"apiKey":"abc123"}', "abc123"),
    ('"{\\"password\\": \\"hunter2\\"}"', "hunter2"),
    ("{password: hunter2}", "hunter2"),
    ("client_secret = abc123", "abc123"),
    ("'secret' => 'abc123',", "abc123"),
    ('if password == "hunter2":', "hunter2"),
    ("Server=db;Uid=sa;Pwd=hunter2;", "hunter2"),
    ("AccountName=x;AccountKey=abc123==;EndpointSuffix=y", "abc123=="),
    (f"aws_secret_access_key = {MIXED[:40]}", MIXED[:40]),
    (f"AKIA{UPPER[:16]} {MIXED[:38]}/+", MIXED[:38]),
    ("//registry.npmjs.org/:_authToken=abc123", "abc123"),
    ("machine x login me password hunter2", "hunter2"),
    ("CREATE USER me IDENTIFIED BY 'hunter2'", "hunter2"),
    ("ALTER USER me WITH PASSWORD 'hunter2'", "hunter2"),
    ("passphrase=hunter2", "hunter2"),
    ('curl -d \'{"user": "me", "password": "hunter2 and 3"}\' https://x', "hunter2 and 3"),
    ('cd "$DIR" && curl "$URL/x" -H "Authorization: Bearer abc123"', "abc123"),
    ('TOKEN=abc123 && curl -H "Authorization: Bearer $TOKEN" https://x', "abc123"),
    ('PGPASSWORD=hunter2 sh -c "psql -h db"', "hunter2"),
    ('TOKEN=abc123; tool --token "$TOKEN"', "abc123"),
    ("Incorrect API key provided: abc123. See the docs.", "abc123"),
    (r"--password hunter\ two", "two"),
    (
        f"-----BEGIN RSA PRIVATE KEY-----\n{LINE}\n{LINE}\nAbc123==\n-----END RSA PRIVATE KEY-----",
        LINE,
    ),
    (f"-----BEGIN PRIVATE KEY-----\n{LINE}\n{LINE}\nAbc123==\n-----END PRIVATE KEY-----", "Abc123"),
    (f'{{"key": "-----BEGIN PRIVATE KEY-----\\n{LINE}\\n-----END PRIVATE KEY-----\\n"}}', LINE),
    (f"-----BEGIN OPENSSH PRIVATE KEY-----\n{LINE}\n", LINE),
    (ENCRYPTED_KEY, LINE),
    (PGP_KEY, LINE),
]

LOOKALIKES = [
    "",
    "ls -la /etc/passwd",
    "cat token.txt | wc -l",
    "git commit -m 'Rotate the token'",
    "grep -rn password src/",
    "max_tokens=4096",
    "tokens: 512",
    "tokenizer=fast",
    "token_type=bearer",
    "secretary: Bob",
    "secretName: my-tls",
    "password_file=/run/secrets/db",
    "--password-file /run/secrets/db",
    "--password-stdin",
    "--no-password --host db",
    "POSTGRES_PASSWORD_FILE=/run/secrets/db",
    "password=$DB_PASSWORD",
    'password="$DB_PASSWORD"',
    "password=${DB_PASSWORD}",
    "password=$(cat /run/secrets/db)",
    'tool --token "$(vault read x)"',
    "token=`cat token`",
    "password: {{ db_password }}",
    "password: <your password>",
    "password: ********",
    "password: null",
    "password=",
    'password=""',
    "def login(user: str, password: str) -> bool:",
    "password = get_password()",
    "token = os.environ['TOKEN']",
    "api_key=process.env.API_KEY",
    '<input type="password" name="p">',
    "PWD=/home/me/project",
    "OLDPWD=/home/me/project",
    "bypass=1 compass: north",
    "pass: 12, fail: 3",
    "credentials: include",
    "auth: required",
    "the bearer of bad news",
    "bearer authentication is used",
    "http://localhost:8000/path",
    "http://user@example.org:8080/",
    "git@github.com:owner/name.git",
    "ssh://git@host:2222/x",
    "postgres://app:$PW@db/shop",
    "docker run --user 1000:1000 image",
    "pip install scikit-learn sk-video",
    "sk-toggleable__content-estimator-id",
    "a task-list of a disk-monitoring-tool-for-all-of-the-servers",
    "ghp_short",
    "npm_config_registry=https://registry.npmjs.org",
    "hf_hub_download(repo_id)",
    "pk_live_publishable",
    "AKIAshort AKIAIOSFODNN7",
    "xoxo-hugs-and-kisses",
    "12:30:45 2026-01-01T12:00:00",
    "eyJhbGciOiJIUzI1NiJ9",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "123e4567-e89b-12d3-a456-426614174000",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n",
    'grep -rl "-----BEGIN RSA PRIVATE KEY-----" /home/me/projects/gateway/settings',
    "mysql -u root -p shop",
    "Cookie: see the documentation",
]

# What would run stands inside of what looks like a secret; it has to be seen.
COMMANDS = [
    ('X="password=" rm -rf "$HOME"', 'rm -rf "$HOME"'),
    ('echo "password=";rm -rf ~;echo "x"', "rm -rf ~"),
    ("echo token=x;rm -rf ~", "rm -rf ~"),
    ("token=x&&reboot", "&&reboot"),
    ("token=x|sh", "|sh"),
    ("token=x\nreboot", "reboot"),
    ("password=$(rm -rf ~)", "rm -rf ~"),
    ('password="$(rm -rf ~)"', "rm -rf ~"),
    ('password="`reboot`"', "reboot"),
    ("curl http://a:x;reboot;@host", "reboot"),
    ("echo Cookie: a=b; rm -rf ~", "rm -rf ~"),
    ("-----BEGIN PRIVATE KEY-----\nrm -rf /\n-----END PRIVATE KEY-----", "rm -rf /"),
    (f"-----BEGIN PRIVATE KEY-----\n{LINE}\nreboot\n-----END PRIVATE KEY-----", "reboot"),
    (f"-----BEGIN PRIVATE KEY-----\n{LINE}\nrm -rf /\n-----END PRIVATE KEY-----", "rm -rf /"),
    ("token=x>/etc/passwd", "/etc/passwd"),
    # one string for this shell, a program for the next one
    ('eval password="a; rm -rf x"', "rm -rf x"),
    ("sh -c token='a; rm -rf x'", "rm -rf x"),
    ("/bin/bash -lc token='a;reboot'", "reboot"),
    ('ssh host token="a; rm -rf x"', "rm -rf x"),
    ("su -c token='a b'", "a b"),
    ("env -S 'token=\"x y\" ls'", "x y"),
    ("git -c alias.token='!rm -rf x' token", "rm -rf x"),
    ("git -c alias.token=!reboot token", "reboot"),
    ("make token='$(shell rm -rf x)'", "rm -rf x"),
    ("alias token=reboot\ntoken", "reboot"),
    # what ends a string within another, and does not begin one
    ('sh -c \'echo "password="; rm x; echo ""\'', "rm x"),
    ('run \'echo "password="; rm x; echo ""\'', "rm x"),
    ('run "echo \\"password=\\"; rm x; echo \\"\\""', "rm x"),
    ('run \'echo \\" "password="; rm x; echo ""\'', "rm x"),
    ('run \'# "\necho "password="; rm x; echo ""\'', "rm x"),
    ('run "\'\\"\' \\"password=\\"; rm x; echo \\"\\""', "rm x"),
    # a variable that is run
    ('password="rm -rf x"; $password', "rm -rf x"),
    ("password=reboot; $password", "reboot"),
    ('password=reboot; X=1 "${password}"', "reboot"),
    ("token=reboot; timeout 5 $token", "reboot"),
    ("token=reboot; sh -c $token", "reboot"),
    ("export token=reboot; sh -c 'nice $token'", "reboot"),
    ("token=reboot; ${IFS}$token", "reboot"),
    ("token=reboot; find . -exec $token {} +", "reboot"),
    ("token=reboot; a=$token; $a", "reboot"),
    ("token=reboot; a=token; ${!a}", "reboot"),
    ("token=reboot; `echo $token`", "reboot"),
    ('token="touch x"; printf \'%s\' "$token" > f; . ./f', "touch x"),
]


@pytest.mark.parametrize("line", CREDENTIALS)
def test_a_credential_of_a_known_provider_is_hidden(line):
    shown = redact(line)

    assert HIDDEN in shown
    assert not regex.search(r"[A-Za-z0-9]{16,}", shown.replace(HIDDEN, ""))


@pytest.mark.parametrize(("line", "secret"), ANNOUNCED)
def test_a_secret_that_its_surroundings_announce_is_hidden(line, secret):
    shown = redact(line)

    assert HIDDEN in shown
    assert secret not in shown


@pytest.mark.parametrize(("line", "secret"), ANNOUNCED)
def test_what_stands_around_a_secret_is_still_read(line, secret):
    shown = redact(line)

    assert line.startswith(shown.partition(HIDDEN)[0])
    assert line.endswith(shown.rpartition(HIDDEN)[2])


@pytest.mark.parametrize("line", LOOKALIKES)
def test_what_only_looks_like_a_secret_is_shown(line):
    assert redact(line) == line


@pytest.mark.parametrize(("line", "command"), COMMANDS)
def test_nothing_that_would_run_is_hidden(line, command):
    assert command in redact(line)


BITS = st.sampled_from(
    [
        *(
            "password",
            "token",
            "secret",
            "=",
            ": ",
            "--",
            " ",
            "\n",
            '"',
            "'",
            "\\",
            "$",
            "(",
            "sk-",
        ),
        *(
            "@",
            "://",
            ":",
            ";",
            ",",
            "}",
            HIDDEN,
            "[secret",
            "hidden]",
            "bearer ",
            "Cookie: ",
            "AKIA",
        ),
        *(
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            LINE,
            "\u0600",
            "\u0301",
            "é",
        ),
        *(MIXED[:20], HEX[:32], "curl -u ", "mysql -p", "eyJhbGci", ".", "ghp_", "\ufdd0", "a"),
    ]
)
SHAPED = st.lists(BITS, max_size=14).map("".join)


@given(st.one_of(st.text(), SHAPED))
def test_redacting_twice_is_redacting_once(text):
    once = redact(text)

    assert redact(once) == once


@given(st.sampled_from(CREDENTIALS), st.text(), st.text(), st.sampled_from(" \n\t\"'"))
def test_a_credential_is_hidden_wherever_it_stands(credential, before, after, around):
    shown = redact(f"{before}{around}{credential}{around}{after}")

    assert credential not in shown


@given(st.one_of(st.text(), SHAPED))
def test_nothing_is_added_but_the_notice(text):
    rest = iter(text.replace("\ufdd0", "\ufffd"))

    assert all(character in rest for character in redact(text).replace(HIDDEN, ""))


EVIL = [
    *(
        "password=",
        "password='",
        'password="',
        "token: ",
        "--token ",
        "bearer ",
        "sk-",
        "eyJ",
        "a.",
    ),
    *("://", "://a:", "mysql ", "curl -u ", "curl ", "mysql -p", "Cookie: a=", "a=b;", "SG.", "M"),
    *("-----BEGIN PRIVATE KEY-----", f"-----BEGIN PRIVATE KEY-----\n{LINE}\n", "-----BEGIN ", "\\"),
    *(
        "password=,",
        ",",
        "]}",
        "'\"",
        "login a ",
        "AKIA",
        "[secret hidden]",
        "authorization: ",
        "$(",
    ),
    *(
        "a-",
        "--a-",
        "--aaaa-aaaa-aaaa-aaaa-",
        "1234567890:",
        "\ufdd0",
        "Proc-Type: ",
        "docker login ",
    ),
]


@pytest.mark.parametrize("bit", EVIL)
def test_text_made_to_be_slow_is_read_in_one_go(bit):
    # A search that takes quadratic time would not come back.
    assert redact(bit * (100_000 // len(bit)))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text\n\tindented", "plain text\n\tindented"),
        ("a\u202eb", r"a\u{202E}b"),
        ("\u2066a\u2069", r"\u{2066}a\u{2069}"),
        ("a\u200bb\u200cc\u200dd", r"a\u{200B}b\u{200C}c\u{200D}d"),
        ("\ufeffa", r"\u{FEFF}a"),
        ("a\x00b\x1b[31m\r", r"a\u{0000}b\u{001B}[31m\u{000D}"),
        ("rm\u00a0-rf", r"rm\u{00A0}-rf"),
        ("a\u3000b", r"a\u{3000}b"),
        ("a\u2028b", r"a\u{2028}b"),
        ("a\u3164b", r"a\u{3164}b"),
        ("\U000e0041", r"\u{E0041}"),
        ("a\ufe0f\U000e0101", r"a\u{FE0F}\u{E0101}"),
        ("\ud800", r"\u{D800}"),
        ("e\u0301 é 漢字 سلام 👍", "e\u0301 é 漢字 سلام 👍"),
    ],
)
def test_what_shows_nothing_is_made_visible(text, shown):
    assert visible(text) == shown


@given(st.text())
def test_making_visible_twice_is_making_it_visible_once(text):
    assert visible(visible(text)) == visible(text)


def test_a_short_text_is_its_own_excerpt():
    assert excerpt("short", 5) == ("short", 0)


def test_an_excerpt_keeps_head_and_tail_and_counts_the_rest():
    text, left_out = excerpt("0123456789" * 10, 30)

    assert text == "01234567890123456789\n[… 70 characters left out …]\n0123456789"
    assert left_out == 70


def test_a_character_of_several_code_points_is_not_cut():
    family = "👨\u200d👩\u200d👧"

    text, left_out = excerpt(family * 10, 3)

    assert text == f"{family}{family}\n[… 7 characters left out …]\n{family}"
    assert left_out == 7


@given(
    st.lists(st.sampled_from([HIDDEN, "a", "é", "\u0301", "\u0600", " "]), max_size=40),
    st.integers(0, 60),
)
def test_what_is_hidden_is_left_out_as_a_whole_or_not_at_all(bits, longest):
    text, _ = excerpt("".join(bits), longest)

    assert not regex.search(r"secret|hidden", text.replace(HIDDEN, ""))


@given(st.text(), st.integers(0, 60))
def test_an_excerpt_loses_as_much_as_it_says(text, longest):
    shown, left_out = excerpt(text, longest)

    kept = regex.sub(r"\n?\[… [\d,]+ characters left out …\]\n?", "", shown) if left_out else shown
    assert len(regex.findall(r"\X", text)) - left_out <= max(longest, 0) or not left_out
    assert left_out or kept == text
