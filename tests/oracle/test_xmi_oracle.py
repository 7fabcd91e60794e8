"""XMI that dkpro-cassis writes is read with the positions that it has in Python."""

from __future__ import annotations

import pytest

from arbitre.inputs.annotation_files import AnnotationOptions

TEXT = 'Ada 😀 met Bob in Zürich 😀😀, "A & B" <C>.'
PARTS = (("Ada", "PER"), ("Bob", "PER"), ("Bob in Zürich", "EVENT"), ("😀😀", "MOOD"), ("A & B", "ORG"), ("<C>", "X"))


def test_xmi_of_cassis_is_read_with_its_positions(tmp_path):
    cassis = pytest.importorskip("cassis")
    types = cassis.TypeSystem()
    place = types.create_type("webanno.custom.Place")
    types.create_feature(place, "value", "uima.cas.String")
    cas = cassis.Cas(types)
    cas.sofa_string, cas.sofa_mime = TEXT, "text/plain"
    for part, label in PARTS:
        start = TEXT.index(part)
        cas.add(place(begin=start, end=start + len(part), value=label))
    cas.to_xmi(tmp_path / "letter.xmi")
    (document,) = AnnotationOptions().read(tmp_path / "letter.xmi").documents
    assert (document.id, document.text) == ("letter", TEXT)
    found = [(document.text[span["start"] : span["end"]], span["label"]) for span in document.spans]
    assert sorted(found) == sorted(PARTS)
