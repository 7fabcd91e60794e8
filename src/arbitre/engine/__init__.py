"""The engine compares documents according to a plan. It reads no files and has no settings."""

from arbitre.engine.batch_comparison import (
    BatchResult,
    compare_batch,
    compare_to_levels,
    count_calls,
    item_costs,
    item_margins,
    judged_texts,
    new_ids,
    pair_qualities,
    pairwise_qualities,
    qualities_at,
    reference_problems,
    references_at,
    release,
    with_common_ids,
    with_gold_ids,
)

__all__ = [
    "BatchResult",
    "compare_batch",
    "compare_to_levels",
    "count_calls",
    "item_costs",
    "item_margins",
    "judged_texts",
    "new_ids",
    "pair_qualities",
    "pairwise_qualities",
    "qualities_at",
    "reference_problems",
    "references_at",
    "release",
    "with_common_ids",
    "with_gold_ids",
]
