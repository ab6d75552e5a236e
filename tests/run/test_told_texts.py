"""What a test may have wanted an invocation to print."""

from __future__ import annotations

from tests.run.test_compared_outputs import invocation
from whence.run.told_texts import shown_instead, texts_in, wanted


def test_texts_stand_between_quotes_and_in_documents():
    script = b"""run "a \\"b\\"" 'c d'\ncat <<EOF\ne\nf\nEOF\ncat <<- 'END'\ng\n\tEND\n"""
    assert list(texts_in(script))[:2] == [b'a "b"', b"c d"]
    assert list(texts_in(script))[-2:] == [b"e\nf\n", b"g\n"]


def test_texts_that_name_characters_may_stand_for_these():
    shown = rb"""want b'a\n\xd7\x90\\z\t' got b'plain' printf "tab\011.\"\n" """
    assert list(texts_in(shown)) == [
        *(rb"a\n\xd7\x90\\z\t", b"a\n\xd7\x90\\z\t", b"plain"),
        *(b'tab\\011."\\n', b'tab\t."\n'),
    ]


def test_what_python_shows_of_a_wanted_text_is_found():
    one = invocation(1, b"ABC\nDEF 1\n", output="")
    found = wanted([one], [], rb"Output: b'ABC\nDEF 1\n' reference file: b'ABC\nDEF 2\n'")
    assert next(text for _, text in found) == b"ABC\nDEF 2\n"


def test_a_difference_shows_what_stands_in_the_place_of_a_part_whichever_side_the_output_is():
    one = invocation(1, b"<p>\nx\n</p>\n", output="")
    shown = b"--- expected\n+++ actual\n@@ -1,3 +1,3 @@\n <p>\n-y\n+x\n </p>\n"
    assert list(shown_instead(one, shown)) == [(b"<p>\ny\n</p>\n", True)]
    swapped = shown.replace(b"-y\n+x", b"-x\n+y")
    assert list(shown_instead(one, swapped)) == [(b"<p>\ny\n</p>\n", True)]
    longer = invocation(1, b"<p>\nx\n</p>\nend\n", output="")
    assert list(shown_instead(longer, shown)) == [(b"<p>\ny\n</p>\nend\n", False)]
    assert list(shown_instead(invocation(1, b"z\n", output=""), shown)) == []


def test_an_output_that_the_script_holds_is_right_and_one_that_the_test_shows_comes_first():
    runs = [invocation(n, out, output="") for n, out in enumerate([b"size 1\n", b"size 22\n", b"size 4\n", b"\n"])]
    found = wanted(runs, [b"size 1", b"size 2"], b"got size 4")
    assert sorted((one.order, text) for one, text in found[:2]) == [("002", b"size 1\n"), ("002", b"size 2\n")]
    assert {one.order for one, _ in found} == {"001", "002"}
    assert all(text != b"far away\n" for _, text in wanted(runs, [b"far away"], b""))
