"""The `Comparator` compiles a schema once and compares any number of documents with it; `compare` compares one pair."""

from __future__ import annotations

import inspect
import sys
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict, TypeVar, Unpack

from arbitre import matching
from arbitre import normalizers as normalisers
from arbitre.catalogue import Catalogue
from arbitre.comparison import html_repr as html
from arbitre.distances import DistanceCatalogue
from arbitre.distances import catalogue as builtin
from arbitre.engine import compare_batch, count_calls, item_costs, item_margins, references_at
from arbitre.engine.independent_matching import rematched
from arbitre.errors import OptionError
from arbitre.inputs.records import Pair, readable
from arbitre.matching import CustomMatching, with_matching
from arbitre.metricity.claims import MAX_VALUES, check_claims
from arbitre.options import COMPARATOR, CORPUS, Reading, Sources, spelled_out
from arbitre.options import Evaluation as EvaluationGroup
from arbitre.parsing.json_form import json_form
from arbitre.parsing.strict_json import MAX_DEPTH, check_value
from arbitre.paths import wildcard
from arbitre.schema import CLOSE, SchemaSource, compile_plan, load
from arbitre.schema.describe import authorities_of
from arbitre.schema.loading.infer import infer
from arbitre.schema.loading.load_schema import NotFoundError, import_object
from arbitre.tables.table import WHOLE
from arbitre.values import NotJsonError, as_tuple

if sys.version_info >= (3, 14):
    from annotationlib import Format

    _signature = partial(inspect.signature, annotation_format=Format.STRING)  # the annotations may not be evaluable
else:
    _signature = inspect.signature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arbitre.comparison import Comparison, Diagnosis
    from arbitre.comparison.cause import Cause
    from arbitre.comparison.flat import FlatComparison
    from arbitre.comparison.patch import Patch
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.corpus.quality_bounds import Bounds
    from arbitre.engine import BatchResult
    from arbitre.gold.checks import GoldCheck
    from arbitre.inputs.document_sources import Gold
    from arbitre.jobs.keywords import CorpusKeywords, Pairs, Progress, SourceKeywords
    from arbitre.matching import Matcher
    from arbitre.matching.custom import MatchingFunction
    from arbitre.metricity.claims import ClaimCheck
    from arbitre.normalizers import Normalizer
    from arbitre.schema import Plan
    from arbitre.schema.certificate import Certificate
    from arbitre.schema.describe import ResolvedPath, UsedAuthority
    from arbitre.schema.loading.annotations import Overlay
    from arbitre.signature import Signature
    from arbitre.suggestions.aliases import AliasSuggestions
    from arbitre.suggestions.suggested_gate import SuggestedGate
    from arbitre.values import Json

    Matchings = Catalogue[Matcher] | Mapping[str, CustomMatching | MatchingFunction]
    Distances = DistanceCatalogue | Mapping[str, Callable[[Any, Any], Any]]
    Normalizers = Catalogue[Normalizer] | Mapping[str, Callable[[Any], Any]]


CatalogueT = TypeVar("CatalogueT", bound=Catalogue[Any])


class Functions(NamedTuple):
    """The distances, normalisers and matchings that a schema may name."""

    distances: DistanceCatalogue
    normalizers: Catalogue[Normalizer]
    matchings: Catalogue[Matcher]


def load_functions(
    names: str | Iterable[str] = (),
    distances: Distances = builtin,
    normalizers: Normalizers = normalisers.catalogue,
    matchings: Matchings = matching.catalogue,
) -> Functions:
    """Return the distances, normalisers and matchings that a schema may name.

    Args:
        names: `MODULE:NAME` of functions and catalogues in the installed modules or the current folder. A function of
            two values is a distance, for which no properties are claimed; a function of one text is a normaliser; a
            `CustomMatching` is a matching.
        distances: A catalogue, or functions by name in addition to the built-in distances.
        normalizers: A catalogue, or functions by name in addition to the built-in normalisers.
        matchings: A catalogue, or matchings by name in addition to the built-in matchings.

    Raises:
        OptionError: A module or a name does not exist, or is neither a function nor a catalogue.
        SchemaError: A name is already in use.
    """
    known = distances if isinstance(distances, DistanceCatalogue) else _with_distances(distances)
    normal = normalizers if isinstance(normalizers, Catalogue) else _with_normalizers(normalizers)
    matched = matchings if isinstance(matchings, Catalogue) else _with_matchings(matchings)
    for name in as_tuple(names):
        loaded, own = _imported(name), name.partition(":")[2]
        if isinstance(loaded, DistanceCatalogue):
            known = _merged(known, loaded, builtin)
        elif isinstance(loaded, CustomMatching):
            matched = with_matching(own, loaded, matched)
        elif isinstance(loaded, Catalogue) and loaded.term == matched.term:
            matched = _merged(matched, loaded, matching.catalogue)
        elif isinstance(loaded, Catalogue):
            normal = _merged(normal, loaded, normalisers.catalogue)
        elif _arity(loaded) == 2:  # noqa: PLR2004  (gold and predicted)
            known = known.with_distance(own, loaded)
        elif _arity(loaded) == 1:
            normal = normalisers.with_normalizer(own, loaded, known=normal)
        else:
            raise OptionError.of(
                "Expected `functions` to name a function of two values (a distance) or of one value (a normaliser), a "
                f"CustomMatching, or a catalogue of such functions, got {type(loaded).__name__} for {name!r}."
            )
    return Functions(known, normal, matched)


def functions_in(options: Mapping[str, Any]) -> Functions:
    """Return the distances, normalisers and matchings in the options of a `Comparator`; see `load_functions`."""
    given = {name: options[name] for name in Functions._fields if name in options}
    return load_functions(options.get("functions", ()), **given)


def _merged(known: CatalogueT, loaded: CatalogueT, base: CatalogueT) -> CatalogueT:
    """Return a catalogue with the entries of another one that are not in `base`."""
    for name in sorted(loaded.entries.keys() - base.entries.keys()):
        known = known.with_factory(name, loaded.entries[name])
    return known


def module_files(names: Iterable[str]) -> tuple[str, ...]:
    """Return the files of the modules in these names, which have been imported; see `load_functions`."""
    modules = (sys.modules.get(name.partition(":")[0]) for name in names)
    return tuple(dict.fromkeys(file for module in modules if (file := getattr(module, "__file__", None)) is not None))


def _with_distances(functions: Mapping[str, Callable[[Any, Any], Any]]) -> DistanceCatalogue:
    """Return the built-in distances and these functions, for which no properties are claimed unless they state them."""
    extended = builtin
    for name, function in functions.items():
        extended = extended.with_distance(name, function)
    return extended


def _with_matchings(functions: Mapping[str, CustomMatching | MatchingFunction]) -> Catalogue[Matcher]:
    """Return the built-in matchings and these."""
    extended = matching.catalogue
    for name, function in functions.items():
        extended = with_matching(name, function, extended)
    return extended


def _with_normalizers(functions: Mapping[str, Callable[[Any], Any]]) -> Catalogue[Normalizer]:
    """Return the built-in normalisers and these functions of texts."""
    extended = normalisers.catalogue
    for name, function in functions.items():
        extended = normalisers.with_normalizer(name, function, known=extended)
    return extended


def _imported(name: str) -> Any:  # noqa: ANN401  (anything that a module may contain)
    """Return the object at `MODULE:NAME`."""
    try:
        return import_object(name)
    except NotFoundError as error:
        raise OptionError.of(
            f"Expected `functions` to name a function or a catalogue as MODULE:NAME, got {name!r}: {error.message}",
            hint=error.hint,
        ) from error


def _arity(loaded: Any) -> int | None:  # noqa: ANN401
    """Return the number of arguments that a function requires; None for anything else."""
    if not callable(loaded) or isinstance(loaded, type):
        return None
    try:
        parameters = _signature(loaded).parameters.values()
    except (TypeError, ValueError):
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in positional and each.default is inspect.Parameter.empty for each in parameters)


MAX_CALLS: Final = 100_000
"""Default maximum number of calls to a custom distance per document."""


class Comparator:
    """Compares documents according to a schema and its `x-arbitre` settings.

    Args:
        schema: JSON Schema as a dictionary, path of a JSON or YAML file, or a Python type: a model of Pydantic, a
            struct of msgspec, a class of attrs, or any type that Pydantic can validate, such as `list[Model]` or a data
            class. "MODULE:NAME" imports one of these.
        overlay: Additional settings by wildcard path, as a dictionary or the path of a JSON file.
        fields: Wildcard paths, such as "/people/*/name". Only the values there and below are compared, and the keys of
            `keyed` lists above them. All other fields are ignored, including undeclared ones. Empty for all.
        close: Minimum quality, in [0, 1], for the verdict "close".
        distances: Distances that the schema may name: a catalogue (see `arbitre.distances.catalogue.with_distance`), or
            your functions (gold, predicted) by name, in addition to the built-in distances.
        normalizers: Normalisers that the schema may name: a catalogue (see
            `arbitre.normalizers.with_normalizer`), or your functions of one text by name.
        matchings: Matchings that the schema may name: a catalogue (see `arbitre.matching.with_matching`), or your
            matchings by name, each a `CustomMatching` or a function of a cost matrix.
        functions: Further distances, normalisers and matchings, as MODULE:NAME of a function, a `CustomMatching` or a
            catalogue, in an installed module or one in the current folder.
        match: Matching for every array, instead of the one in the schema.
        distance: Distance for all non-exact leaves of the kinds that it accepts, instead of the one in the schema.
        max_calls: Maximum number of calls to a custom distance per document; None for no limit. Documents that may
            need more calls are refused before the first call (see `most_calls`).
        allow_refs: Folders with files that the schema may reference, besides the folder of the schema itself.
        format_assertion: Whether a value that does not match its `format` violates the schema. Affects
            `Comparison.violations` and `check_gold`, not the scores.

    Raises:
        SchemaError: The schema is invalid. The error lists every problem.
        OptionError: A name of `functions` does not exist, or is not a function or a catalogue; or a path in `fields`
            is not in the schema.

    >>> comparator = Comparator({"type": "array", "items": {"type": "string"}})
    >>> comparator.compare(gold=["Ada", "Bob"], predicted=["Bob"]).scores.irq
    0.5
    """

    def __init__(
        self,
        schema: SchemaSource,
        *,
        overlay: Mapping[str, Json] | str | Path | Overlay | None = None,
        fields: str | Iterable[str] = (),
        close: float = CLOSE,
        distances: Distances = builtin,
        normalizers: Normalizers = normalisers.catalogue,
        matchings: Matchings = matching.catalogue,
        functions: str | Iterable[str] = (),
        match: Json = None,
        distance: Json = None,
        max_calls: int | None = MAX_CALLS,
        format_assertion: bool = False,
        allow_refs: str | Path | Iterable[str | Path] = (),
    ) -> None:
        names = as_tuple(functions)
        known = load_functions(names, distances, normalizers, matchings)
        plan = compile_plan(
            load(schema, allow_refs),
            overlay=overlay,
            close=close,
            distances=known.distances,
            normalizers=known.normalizers,
            matchings=known.matchings,
            match=match,
            distance=distance,
            max_calls=max_calls,
            format_assertion=format_assertion,
            fields=[fields] if isinstance(fields, str) else fields,
        )
        self.plan: Plan = replace(plan, inputs=(*plan.inputs, *module_files(names)))

    @classmethod
    def infer(
        cls,
        documents: Gold,
        *,
        overlay: Mapping[str, Json] | str | Path | None = None,
        close: float = CLOSE,
    ) -> Comparator:
        """Create a comparator with a schema inferred from gold documents.

        Args:
            documents: A path (a folder, a file or a glob), a dictionary of gold documents by id, or an iterable of gold
                documents or of (id, document) pairs. A string in an iterable is a document.
            overlay: Additional settings by wildcard path, as a dictionary or the path of a JSON file.
            close: Minimum quality, in [0, 1], for the verdict "close".

        Raises:
            DataError: There are no documents, or one cannot be read.
        """
        from arbitre.inputs.document_sources import (  # noqa: PLC0415  (evaluations do not need it)
            column_types,
            gold_items,
            gold_records,
            split_pair,
        )

        if isinstance(documents, (str, Path)):
            dates = [name for _, types in column_types([documents], "id") for name in types.dates]
            known = [readable(item).value for item in gold_records(documents, "id", drop_nulls=True)]
            return cls(infer(known, dates), overlay=overlay, close=close)
        known = [split_pair(item)[1] for item in gold_items(documents)]
        return cls(infer(known), overlay=overlay, close=close)

    @property
    def schema(self) -> Json:
        """The JSON Schema, as passed in or inferred."""
        return self.plan.root.schema

    @property
    def signature(self) -> Signature:
        """The options that can change a score. Scores are comparable only if their signatures are equal."""
        return self.plan.signature

    @property
    def certificate(self) -> Certificate:
        """Whether the distance between documents (1 - quality) is a metric and, if not, why and at which paths.

        See [the certificate](metricity.md#the-certificate).
        """
        from arbitre.metricity import witnesses  # noqa: PLC0415  (evaluations do not need it)

        return self.plan.certificate.with_witness_search(partial(witnesses.find, self.plan))

    @property
    def entries(self) -> str:
        """Wildcard path of the list of entries; "" is the root."""
        return wildcard(self.plan.entries)

    @property
    def authorities(self) -> tuple[UsedAuthority, ...]:
        """The [authority files](reference/normalisers.md#authority-files) and inline `names` that the schema uses."""
        return authorities_of(self.plan.sites)

    def explain(self) -> tuple[ResolvedPath, ...]:
        """Return the resolved settings for every path in the schema, as `arbitre schema explain` does."""
        return self.plan.rows

    def _repr_html_(self) -> str:
        certificate = self.certificate
        breaks = [(one.path or WHOLE, one.reason, one.remedy) for one in certificate.breaks[: html.WORST]]
        heads = ("path", "kind", "distance", "weight", "match", "normalize")
        rows = [
            (row.path or WHOLE, row.kind, row.distance, row.weight, row.match, row.normalize)
            for row in self.explain()[: html.PATHS]
        ]
        return html.page(
            html.line(f"Entries: {self.entries or 'the document'}. Distance: {certificate.verdict}", strong=True),
            html.folded("Why", html.table(("path", "reason", "remedy"), breaks)),
            html.folded("Settings by path", html.table(heads, rows), shown=True),
            html.more_paths(len(self.explain())),
            signature=self.signature,
        )

    def compare(self, *, gold: Json, predicted: Json, exhaustive: bool = False, rematch: bool = False) -> Comparison:
        """Compare one predicted document with its gold document.

        The documents do not have to be valid against the schema. Do not modify them while you use the comparison: it
        computes details from them on demand. Model instances, decimals, dates, enum members, tuples and NumPy values
        are converted to JSON.

        Args:
            gold: The gold document, or `arbitre.ABSENT`.
            predicted: The predicted document, or `arbitre.ABSENT`.
            exhaustive: Compute the quality of every possible pair of list items. The scores stay the same; use this
                for diagnosis.
            rematch: Compute the repair gains of `diagnosis` by comparing repaired documents again, instead of on the
                matching of this comparison.

        Returns:
            The comparison.

        Raises:
            DataError: A document is not JSON, is too large or nested too deeply, or is a text although the schema
                expects an object or a list.
        """
        try:
            return self._compared(gold, predicted, exhaustive=exhaustive, rematch=rematch)
        except NotJsonError:  # plain JSON is not searched for Python objects first
            return self._compared(json_form(gold), json_form(predicted), exhaustive=exhaustive, rematch=rematch)

    def _compared(self, gold: Json, predicted: Json, *, exhaustive: bool, rematch: bool) -> Comparison:
        from arbitre.comparison import Comparison  # noqa: PLC0415  (evaluations do not need it)

        for side, document in (("gold document", gold), ("predicted document", predicted)):
            check_value(document, side)
        self.plan.check_gold(gold)
        self.plan.check_predicted(predicted)
        traced = compare_batch(self.plan, [gold], [predicted], exhaustive=exhaustive, ask=True)
        return Comparison(
            level_source=traced.levels,
            entry_levels=traced.levels(self.plan.entries),
            gold=gold,
            predicted=predicted,
            entries=self.entries,
            signature=self.signature,
            close=self.plan.close,
            schema=self.plan.root,
            item_costs=item_costs,
            item_margins=item_margins,
            rematched=rematched,
            format_assertion=self.plan.format_assertion,
            diagnose=cache(lambda: self._diagnosed(gold, predicted, traced, rematch=rematch)),
            find_causes=cache(lambda: self._causes(gold, predicted)),
            find_references=None
            if traced.correspondence is None
            else cache(partial(references_at, self.plan, traced, 0)),
            make_patch=lambda gains: self._patch(gold, predicted, traced, gains=gains),
            again=partial(self._compared, gold, predicted, exhaustive=exhaustive, rematch=rematch),
        )

    def _diagnosed(self, gold: Json, predicted: Json, traced: BatchResult, *, rematch: bool) -> Diagnosis:
        from arbitre.diagnosis.faults import diagnose  # noqa: PLC0415  (most comparisons do not need it)

        return diagnose(self.plan, [gold], [predicted], traced.levels(), rematch=rematch)[0]

    def _causes(self, gold: Json, predicted: Json) -> tuple[Cause, ...]:
        from arbitre.causes.search import find_causes  # noqa: PLC0415  (most comparisons do not need it)

        return find_causes(self.plan, [Pair("", None, gold, predicted)]).causes

    def _patch(self, gold: Json, predicted: Json, traced: BatchResult, *, gains: bool | None) -> Patch:
        from arbitre.diagnosis.faults import make_patch  # noqa: PLC0415  (most comparisons do not need it)

        return make_patch(self.plan, gold, predicted, traced.levels(), gains=gains)

    def compare_flat(self, *, gold: Json, predicted: Json) -> FlatComparison:
        """Match all leaves at each path of a document, regardless of the entries that they belong to.

        The result includes the [solidarity](diagnosis.md#solidarity). `compare(...).diagnosis` contains the same
        scores.

        Args:
            gold: The gold document, or `arbitre.ABSENT`.
            predicted: The predicted document, or `arbitre.ABSENT`.

        Returns:
            The scores of the best flat matching, and the solidarity.

        Raises:
            DataError: As for `compare`.
        """
        from arbitre.diagnosis import solidarity  # noqa: PLC0415  (evaluations do not need it)

        comparison = self.compare(gold=gold, predicted=predicted)
        levels, documents = comparison.levels, ([comparison.gold], [comparison.predicted])
        sums = solidarity.LeafSums.of(levels, 1, self.plan.close)
        chance = solidarity.solidarity_by_chance(self.plan, *documents, levels, sums)
        return replace(sums.comparison(0), **chance)

    def most_calls(self, *, gold: Json, predicted: Json) -> dict[str, int]:
        """Return the maximum number of calls to custom distances needed to compare these documents, by path.

        Never calls a judge. Calls other custom distances only if the schema also has a judge. The actual number of
        calls is close to the number of items if a field with a built-in distance identifies them, or if the custom
        distance has a lower bound.
        """
        return count_calls(self.plan, json_form(gold), json_form(predicted))

    def check_claims(
        self, *, gold: Sequence[Json], predicted: Sequence[Json] = (), sample: int = MAX_VALUES, seed: int = 0
    ) -> tuple[ClaimCheck, ...]:
        """Check the [claims](custom.md#claims) about custom distances on values from documents.

        At each path, the distance is called for all ordered pairs of at most `sample` distinct values.

        Args:
            gold: Gold documents.
            predicted: Predictions.
            sample: Maximum number of values of a path; more are sampled at random.
            seed: Random seed of the sample.

        Returns:
            One check for each path and claim, with the number of violations and the values of the largest one; see
            `arbitre.metricity.claims.ClaimCheck`.
        """
        return check_claims(
            self.plan, list(map(json_form, gold)), list(map(json_form, predicted)), sample=sample, seed=seed
        )

    @spelled_out(Sources, Reading, EvaluationGroup, *CORPUS, workers=1, cluster=None)
    def evaluate(
        self, pairs: Pairs | None = None, *, progress: Progress | None = None, **options: Unpack[CorpusKeywords]
    ) -> Evaluation:
        """Compare all documents of a corpus, as `arbitre evaluate` does.

        Args:
            pairs: (id, gold, predicted) triples; a data frame (pandas, Polars or Arrow) with the columns `id`, `gold`
                and `predicted`, and optionally `run`; or paths of records that contain both documents.
            progress: Called with the number of documents compared, and their total number if it is known.
            **options: The options of `arbitre evaluate`, see `arbitre.jobs.keywords.CorpusKeywords`. Without `pairs`,
                `gold` and `predicted`, or `manifest`, name the documents. `gold` and `predicted` are paths, or the
                documents themselves: by id, or lists of documents or of (id, document) pairs. One process compares by
                default (`workers=1`).

        Returns:
            The evaluation. With `out`, its files are written to this folder.

        Raises:
            DataError: A source cannot be read, a file cannot be written, or a document fails and `strict` is set.
            OptionError: An option is unknown, or options contradict each other.
            QualityBoundError: A score misses a bound of `fail_under` or `fail_over`. The files of `out` are written
                first.
        """
        from arbitre.jobs.keywords import evaluate_corpus  # noqa: PLC0415  (loads the report)

        return evaluate_corpus(self.plan, pairs, progress, **options)

    @spelled_out(Sources, Reading)
    def suggest_aliases(self, pairs: Pairs | None = None, **sources: Unpack[SourceKeywords]) -> AliasSuggestions:
        """Suggest [aliases](faults.md#fields-under-other-keys) for fields that predictions put under undeclared keys.

        A key is suggested if its values equal missing values of the field in the same entries more often than expected
        by chance. To accept all suggestions, pass the `overlay` of the result to a comparator.

        Args:
            pairs: As for `evaluate`.
            **sources: The options of `arbitre schema suggest-aliases`: `gold` and `predicted`, or `manifest`, and how
                documents are read.

        Returns:
            The suggested aliases with their evidence.

        Raises:
            DataError: A source cannot be read.
            OptionError: An option is unknown, or options contradict each other.

        >>> people = {"type": "object", "properties": {"name": {"type": "string"}, "born": {"type": "integer"}}}
        >>> names = [("a", "Ada"), ("b", "Bo"), ("c", "Cy"), ("d", "Di")]
        >>> pairs = [(page, {"name": name, "born": 1900}, {"label": name, "born": 1900}) for page, name in names]
        >>> Comparator(people).suggest_aliases(pairs).overlay
        {'/name': {'aliases': ['label']}}
        """
        from arbitre.jobs.keywords import document_pairs  # noqa: PLC0415  (loads the report)
        from arbitre.suggestions.aliases import suggest_corpus_aliases  # noqa: PLC0415  (only used here)

        return suggest_corpus_aliases(self.plan, document_pairs(self.plan, pairs, **sources))

    @spelled_out(Sources, Reading)
    def suggest_gate(
        self, pairs: Pairs | None = None, *, seed: int = 0, **sources: Unpack[SourceKeywords]
    ) -> SuggestedGate:
        """Suggest a [gate](reference/commands.md#arbitre-schema-suggest-gate) (minimum quality) for matching entries.

        To use the gate, pass the `overlay` of the result to a comparator.

        Args:
            pairs: As for `evaluate`.
            seed: Random seed of the sample of chance pairs.
            **sources: The options of `arbitre schema suggest-gate`, as for `suggest_aliases`.

        Returns:
            The suggested gate, and the number of matched pairs below it.

        Raises:
            DataError: A source cannot be read, there is only one document, or the entries are not matched by
                `hungarian` without a gate.
            OptionError: An option is unknown, or options contradict each other.
        """
        from arbitre.jobs.keywords import document_pairs  # noqa: PLC0415  (loads the report)
        from arbitre.suggestions.suggested_gate import suggest_gate  # noqa: PLC0415  (only used here)

        return suggest_gate(self.plan, document_pairs(self.plan, pairs, **sources), seed=seed)

    def check_gold(self, gold: Gold, *, id_key: str = "id") -> GoldCheck:
        """Check gold documents for [problems and possible mistakes](reference/causes.md#checks-of-gold).

        Args:
            gold: A path (a folder, a `.json`, `.jsonl` or `.parquet` file, or a glob), a dictionary of documents by id,
                or an iterable of paths, of documents, or of (id, document) pairs. A string is always a path; pass a
                document that is a string as a pair. A document without an id gets its position in the iterable as id.
            id_key: Key of the id of a record in a file.

        Returns:
            The number of documents and the findings.

        Raises:
            DataError: A whole source cannot be read.

        >>> sent = {"type": "string", "x-arbitre": {"aliases": ["date"]}}
        >>> found = Comparator({"type": "object", "properties": {"sent": sent}}).check_gold([{"date": "1918-11-03"}])
        >>> [(one.check, one.pointer) for one in found.findings]
        [('alias', '/date')]
        """
        from arbitre.gold.checks import check_gold  # noqa: PLC0415  (evaluations do not need it)

        return check_gold(self.plan, gold, id_key=id_key)


class ComparatorKeywords(TypedDict, total=False):
    """Options of a comparator, as described at `Comparator`."""

    # from arbitre.options: Annotations, Comparison, Formats, Functions, Overrides
    overlay: Mapping[str, Json] | str | Path | None
    """x-arbitre settings by path, for a schema that you cannot edit."""
    functions: str | Iterable[str]
    """Custom distances, normalisers and matchings in Python, or catalogues of them."""
    allow_refs: str | Path | Iterable[str | Path]
    """Additional folders whose files the schema may reference with $ref."""
    fields: str | Iterable[str]
    """Compare only the values at and below these wildcard paths, such as /people/*/name."""
    close: float
    """Minimum quality for the verdict "close"."""
    max_calls: int | None
    """Maximum number of calls to a custom distance per document."""
    format_assertion: bool
    """Also report values that do not match the `format` in the schema."""
    distances: Distances
    """Distances by name. Default: the built-in distances."""
    normalizers: Normalizers
    """Normalisers by name. Default: the built-in normalisers."""
    matchings: Matchings
    """Matchings by name. Default: the built-in matchings."""
    match: Json
    """Use this matching for all arrays: a name, or JSON as in a schema."""
    distance: Json
    """Use this distance for all leaves that are not compared by `exact`: a name, or JSON as in a schema."""
    # end of the options


def take_comparator(schema: SchemaSource | Comparator, options: dict[str, Any]) -> Comparator:
    """Return the comparator of a schema, and remove its options from keyword arguments.

    Raises:
        OptionError: A comparator is given together with one of its options.
        SchemaError: The schema is invalid.
    """
    names = ComparatorKeywords.__annotations__.keys() & options.keys()
    given = {name: options.pop(name) for name in sorted(names)}
    if not isinstance(schema, Comparator):
        return Comparator(schema, **given)
    if given:
        raise OptionError.of(f"`{next(iter(given))}` requires a schema. Pass it to the Comparator instead.")
    return schema


@spelled_out(*COMPARATOR)
def compare(
    schema: SchemaSource | Comparator | None = None,
    *,
    gold: Json | Path,
    predicted: Json | Path,
    max_depth: int = MAX_DEPTH,
    fail_under: Bounds = (),
    fail_over: Bounds = (),
    rematch: bool = False,
    strict: bool = False,
    **options: Unpack[ComparatorKeywords],
) -> Comparison:
    """Compare one predicted document with its gold document, as `arbitre compare` does.

    A string is always the path of a JSON file, or "-" for standard input. To compare documents that are strings, use
    `Comparator.compare`.

    Args:
        schema: Schema of the documents, or a comparator; inferred from gold by default.
        gold: The gold document, or its path.
        predicted: The predicted document, or its path.
        max_depth: Maximum number of nested containers in a file.
        fail_under: Minimum scores, as for `arbitre.check_bounds`.
        fail_over: Maximum scores.
        rematch: Compute the repair gains of the diagnosis by comparing repaired documents again.
        strict: Raise DataError if gold or the prediction has no key that the schema declares.
        **options: The options of `Comparator`, such as `overlay`.

    Returns:
        The comparison.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A document cannot be read or compared.
        OptionError: A bound is invalid, or a comparator is given together with one of its options.
        QualityBoundError: A score misses a bound of `fail_under` or `fail_over`.

    >>> compare(gold=["Ada", "Bo"], predicted=["Bo"]).scores.irq
    0.5
    """
    from arbitre.corpus.quality_bounds import check_bounds, parse_bounds, require  # noqa: PLC0415  (comparators do not need it)

    bounds = parse_bounds(fail_under, fail_over)
    documents = [as_document(side, max_depth) for side in (gold, predicted)]
    given: dict[str, Any] = {**options}
    comparator = take_comparator(infer(documents[:1]) if schema is None else schema, given)
    if strict:
        from arbitre.inputs.join import check_keys  # noqa: PLC0415  (rarely used)

        check_keys(comparator.plan.document_keys, *documents, strict=True)
    comparison = comparator.compare(gold=documents[0], predicted=documents[1], rematch=rematch)
    require(check_bounds(comparison, fail_under=bounds, declared={row.path for row in comparator.explain()}))
    return comparison


def as_document(document: Json | Path, max_depth: int = MAX_DEPTH) -> Json:
    """Return the document in a file if a path is given, otherwise the document itself. Raises DataError."""
    if not isinstance(document, (str, Path)):
        return document
    from arbitre.inputs.document_sources import read_document  # noqa: PLC0415  (documents in memory do not need it)

    return read_document(document, max_depth)
