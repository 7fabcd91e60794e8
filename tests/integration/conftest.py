"""Settings of the integration tests: many evaluate the same documents, whose causes are searched once."""

from __future__ import annotations

import json
from functools import wraps

import pytest

from arbitre.causes import search

KNOWN = {}
"""The causes of each schema and its documents."""


@pytest.fixture(autouse=True, scope="module")
def causes_searched_once(request):
    """Keep the causes that were found, which saves a quarter of the time. On a cluster, the workers search."""
    with pytest.MonkeyPatch.context() as patch:
        if request.path.name != "test_cluster.py":
            patch.setattr(search, "find_causes", searched_once(search.find_causes))
        yield


def searched_once(find_causes):
    @wraps(find_causes)
    def found(plan, pairs, total=None, texts=None):
        if plan.has_custom_distances or texts is not None:
            return find_causes(plan, pairs, total, texts)
        documents = [(pair.id, pair.key, pair.gold, pair.predicted) for pair in pairs]
        key = json.dumps([plan.signature.to_dict(), documents, total], default=repr)
        if key not in KNOWN:
            KNOWN[key] = find_causes(plan, pairs, total, texts)
        return KNOWN[key]

    return found
