"""The queue of disagreements as data for its page."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from arbitre.agreement.consensus.decisions import fingerprint, same
from arbitre.parsing.fast_json import compact
from arbitre.report.documents.document_tree import shown
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arbitre.agreement.consensus.decisions import Decision
    from arbitre.agreement.consensus.disagreement import Disagreement
    from arbitre.values import Json


def queue_view(
    annotators: Sequence[str], disagreements: Iterable[Disagreement], decisions: Iterable[Decision] = ()
) -> dict[str, Any]:
    """Return the queue as JSON for `render_queue`.

    Returns:
        `disagreements`, each with its `choices`: the values to choose from, the proposal first, as JSON text (`raw`)
        and for display (`value`), with the annotators who have them. `absent` are those who have none, or no vote.
        `entry` is the position of its context in `entries`, which contain the proposal and each annotator's version of
        an entry. `decisions` are earlier decisions as JSON lines, and `key` identifies the queue.
    """
    entries: dict[tuple[str, str], int] = {}
    plain_entries: list[Json] = []
    plain: list[Json] = []
    for each in disagreements:
        at = entries.setdefault((each.document, each.entry), len(entries))
        if at == len(plain_entries):
            plain_entries.append(_entry(each))
        plain.append(_disagreement(each) | {"entry": at})
    whole = json.dumps([each["fingerprint"] for each in plain])
    return {
        "key": hashlib.sha256(whole.encode()).hexdigest()[:16],
        "annotators": list(annotators),
        "entries": plain_entries,
        "disagreements": plain,
        "decisions": "".join(compact(decision.to_dict()) + "\n" for decision in decisions),
    }


def _entry(disagreement: Disagreement) -> dict[str, Json]:
    value = disagreement.proposal if disagreement.entry == disagreement.pointer else disagreement.context
    proposal = {} if value is ABSENT else {"proposal": shown(value)}
    versions = {each.annotator: shown(each.value) for each in disagreement.versions if each.value is not ABSENT}
    return {"pointer": disagreement.entry, **proposal, "versions": versions}


def _disagreement(disagreement: Disagreement) -> dict[str, Json]:
    readings = [reading for reading in disagreement.readings if reading.value is not ABSENT]
    left_out = disagreement.proposal is ABSENT
    values: list[Json] = [] if left_out else [disagreement.proposal]
    for reading in readings:
        if not any(same(reading.value, value) for value in values):
            values.append(reading.value)
    choices = [_choice(value, [each.annotator for each in readings if same(each.value, value)]) for value in values]
    if not left_out:
        choices[0]["proposed"] = True
    choices[not left_out :] = sorted(choices[not left_out :], key=lambda choice: -len(choice["annotators"]))
    return {
        "id": disagreement.id,
        "fingerprint": fingerprint(disagreement),
        "document": disagreement.document,
        "pointer": disagreement.pointer,
        "path": disagreement.path,
        "within": list(disagreement.within),
        "kind": disagreement.kind,
        "flag": disagreement.flag,
        "weight": disagreement.weight,
        "choices": choices,
        "absent": {
            "annotators": [each.annotator for each in disagreement.readings if each.value is ABSENT and each.votes],
            "without_vote": [each.annotator for each in disagreement.readings if not each.votes],
            "proposed": left_out,
        },
    }


def _choice(value: Json, annotators: list[str]) -> dict[str, Any]:
    return {"raw": compact(value), "value": shown(value), "annotators": annotators, "proposed": False}
