"""A script of a user, with the types that it expects of the results. It is type-checked, and run with the wheel."""
# ruff: noqa: F841, TC003  (types are what it is about; a user would not defer the import)

from collections.abc import Mapping

import arbitre


def main() -> None:
    """Use the public functions and results."""
    schema: dict[str, object] = {
        "type": "array",
        "items": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}},
    }
    gold = [{"name": "Ada", "age": 36}, {"name": "Bo", "age": 40}]
    predicted = [{"name": "Ada", "age": 63}]

    comparator = arbitre.Comparator(schema)
    inferred: arbitre.Comparator = arbitre.Comparator.infer([gold])
    signature: arbitre.Signature = comparator.signature
    verdict: str = comparator.certificate.verdict
    reasons: list[tuple[str, str, str | None]] = [
        (one.path, one.reason, one.remedy) for one in comparator.certificate.breaks
    ]
    settings: dict[str, str] = {row.path: row.distance for row in comparator.explain()}

    comparison: arbitre.Comparison = comparator.compare(gold=gold, predicted=predicted)
    quality: float = comparison.quality
    scores: arbitre.Scores = comparison.scores
    node: arbitre.Scores = comparison.at("/0").scores
    pairs: list[tuple[int, int, float, float]] = [
        (pair.gold, pair.predicted, pair.mass, pair.quality) for pair in comparison.alignment("").pairs
    ]
    missing: tuple[int, ...] = comparison.alignment("").missing
    names: float | None = comparison.by_path()["/*/name"].f1q
    violations: list[str] = [one.pointer for one in comparison.violations]
    patched: object = comparison.patch().apply(predicted)
    published: Mapping[str, float | None] = arbitre.published(comparison)
    plain: dict[str, object] = comparison.to_dict()

    evaluation: arbitre.Evaluation = arbitre.evaluate(schema, [("a", gold, predicted), ("b", gold, arbitre.ABSENT)])
    again: arbitre.Evaluation = comparator.evaluate(gold={"a": gold}, predicted={"a": predicted}, workers=1)
    micro: float | None = evaluation.micro.f1q
    macro: arbitre.MacroScores = evaluation.macro
    by_path: dict[str, float | None] = {path: row.irq for path, row in evaluation.by_path.items()}
    by_document: dict[str, arbitre.Scores] = evaluation.by_document
    reported: list[str] = [failure.reason for failure in evaluation.failures]
    share: float | None = evaluation.document_quality.at_least(0.9)
    low: float | None = evaluation.interval("irq", level=0.9).low
    gains: list[tuple[str, float]] = [(cause.kind, cause.gain) for cause in evaluation.causes]
    columns: list[str] = list(evaluation.table("documents"))
    rows: int = len(evaluation.table("matches")["quality"])
    scanned: int = evaluation.scan("paths").count_rows()
    missed: tuple[arbitre.MissedBound, ...] = arbitre.check_bounds(evaluation, fail_under={"macro.f1q": 0.5})

    tally: arbitre.Tally = sum((one.tally for one in by_document.values()), arbitre.Tally())
    deviation: float | None = arbitre.metricity([[0.0, 1.0], [1.0, 0.0]]).triangle_rate
    grade: arbitre.Grade = arbitre.Grader(schema)('[{"name": "Ada"}]', gold)
    reason: str = grade.reason
    version: str = arbitre.__version__

    try:
        arbitre.Comparator({"x-arbitre": {"distance": "levenstein"}})
    except arbitre.ArbitreError as error:
        hints: list[str | None] = [problem.hint for problem in error.problems]


if __name__ == "__main__":
    main()
