"""Tests of TokenFileCredential: a token that another process renews is read again."""

import os
from pathlib import Path

import pytest

from kron.adapters.kubernetes.credentials import CredentialError, TokenFileCredential
from tests.adapters.kubernetes.scripted_server import live


def test_a_token_that_was_not_accepted_is_read_again_though_its_file_looks_the_same(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("first")
    before = file.stat()
    token = TokenFileCredential(file, None)
    live(token.authenticate())
    file.write_text("other")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    token.invalidate()

    assert live(token.authenticate()).authorization == "Bearer other"


@pytest.mark.parametrize(("content", "message"), [("", "is empty"), (None, "No such file"), ("é", "can't decode")])
def test_a_file_without_a_token_is_an_error_that_names_it(tmp_path: Path, content: str | None, message: str) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content, "utf-8")

    with pytest.raises(CredentialError, match=f"token file {file}.* ?{message}"):
        live(TokenFileCredential(file, None).authenticate())
