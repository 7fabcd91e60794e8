"""ROUGE, BLEU and perplexity of single texts: edge cases and refusals."""

import math
import sys

import numpy as np
import pytest

import arbitre
from arbitre.distances import catalogue
from arbitre.errors import ArbitreError, DataError, OptionError, SchemaError
from arbitre.text import bleu, bleu_details, corpus_perplexity, perplexity, read_logprobs, rolling_perplexity, rouge

REFERENCE = "Hello world on this website"


def needs_text():
    for library in ("rouge_score", "nltk", "sacrebleu"):
        pytest.importorskip(library)


class TestRouge:
    @pytest.fixture(autouse=True)
    def _libraries(self):
        needs_text()

    def test_the_reference_with_the_greatest_f1_counts_the_first_of_several(self):
        assert rouge("a b", ["c", "a", "b a", "a b"]).reference == 2
        assert rouge("a b", ["c", "d"]) == (0, 0, 0, 0)

    @pytest.mark.parametrize("kind", ["rouge1", "rouge2", "rougeL", "rougeLsum", "rougeS"])
    def test_a_zero_denominator_gives_zero(self, kind):
        assert rouge("", "", kind)[:3] == rouge("...", "a b", kind)[:3] == rouge("a b", "...", kind)[:3] == (0, 0, 0)

    def test_accented_letters_belong_to_words_unless_the_tokenizer_is_that_of_rouge_score(self):
        assert rouge("Été", "été").f1 == 1
        assert rouge("Été", "été", tokenizer="rouge-score") == rouge("t", "t", tokenizer="rouge-score")
        assert rouge("thé", "tha") == (0, 0, 0, 0)
        assert rouge("thé", "th", tokenizer="rouge-score").f1 == 1

    def test_stemming_needs_the_tokenizer_of_rouge_score(self):
        assert rouge("meetings", "meeting", tokenizer="rouge-score", stem=True).f1 == 1
        with pytest.raises(OptionError, match="`stem` requires `tokenizer` rouge-score"):
            rouge("meetings", "meeting", stem=True)

    def test_rouge_lsum_compares_sentence_by_sentence(self):
        candidate, reference = "a b c\nd e f", "d e f\na b c"
        assert rouge(candidate, reference, "rougeL").f1 == 0.5
        assert rouge(candidate, reference, "rougeLsum").f1 == 1

    def test_skip_limits_the_distance_between_the_words_of_a_pair(self):
        # a b c has the pairs ab ac bc; a c has ac
        assert rouge("a c", "a b c", "rougeS")[:3] == (1, 1 / 3, 0.5)
        assert rouge("a c", "a b c", "rougeS", skip=0)[:3] == (0, 0, 0)

    @pytest.mark.parametrize("kind", ["rouge0", "rouge10", "rougel", "ROUGE1", "rouge-1", ""])
    def test_an_unknown_kind_is_refused(self, kind):
        with pytest.raises(OptionError, match="Expected `kind` to be a kind of ROUGE"):
            rouge("a", "a", kind)

    @pytest.mark.parametrize(
        ("references", "message"), [([], "at least one reference"), ([1], "reference 1 to be a text")]
    )
    def test_references_that_are_not_texts_are_refused(self, references, message):
        with pytest.raises(DataError, match=message):
            rouge("a", references)
        with pytest.raises(DataError, match=message):
            bleu("a", references)


@pytest.mark.parametrize("library", ["rouge_score", "nltk", "sacrebleu"])
def test_the_error_for_a_missing_library_names_its_extra(library, monkeypatch):
    needs_text()
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ArbitreError, match=f"needs {library.replace('_', '-')}, which cannot be imported") as caught:
        _ = rouge("a", "a"), bleu("a", "a")
    assert caught.value.hint == "Install it: pip install 'arbitre[text]'"


class TestBleu:
    @pytest.fixture(autouse=True)
    def _libraries(self):
        needs_text()

    def test_a_precision_of_zero_makes_bleu_zero_unless_its_weight_is_zero(self):
        assert bleu("a b", "b a") == 0
        assert bleu("a b", "b a", weights=[1, 0]) == 1

    def test_an_empty_text_has_bleu_zero(self):
        assert bleu("", "a") == bleu("a", "") == bleu("", "") == 0

    def test_the_reference_of_the_closest_length_sets_the_brevity_penalty(self):
        assert bleu_details("a b c", ["a b c d e", "a b", "a b c d"], [1]).reference_length == 2  # the shorter of two
        assert bleu("a b c d e f", ["a b c d e"], [1]) == 5 / 6

    @pytest.mark.parametrize("weights", [[], [0.5], [2, -1], [math.nan], [0.5, 0.6]])
    def test_weights_that_are_negative_or_do_not_sum_to_one_are_refused(self, weights):
        with pytest.raises(OptionError, match="Expected `weights`"):
            bleu("a", "a", weights)

    def test_references_and_weights_can_be_arrays(self):
        assert bleu("a b", np.array(["a b", "c"]), np.array([0.5, 0.5])) == 1
        with pytest.raises(DataError, match="Expected reference 1 to be a text, got null"):
            bleu("a b", None)

    def test_an_unknown_tokenizer_is_refused(self):
        with pytest.raises(
            OptionError, match='Expected `tokenize` to be a known name, got "14a"\n  Did you mean "13a"'
        ):
            bleu("a", "a", tokenize="14a")


class TestPerplexity:
    def test_all_forms_of_log_probabilities_give_the_same_perplexity(self):
        numbers = [-0.5, -1, -3.25]
        content = [{"token": "x", "logprob": number, "top_logprobs": []} for number in numbers]
        expected = math.exp(4.75 / 3)
        for logprobs in (numbers, tuple(numbers), content, {"content": content, "refusal": None}):
            assert perplexity(logprobs) == pytest.approx(expected, abs=1e-12)
        assert [token.token for token in read_logprobs(content)] == ["x", "x", "x"]

    def test_the_corpus_value_is_weighted_by_tokens(self):
        documents = [[-1.0], [-2.0, -2.0, -2.0]]
        assert corpus_perplexity(documents) == pytest.approx(math.exp(7 / 4), abs=1e-12)

    def test_arrays_and_numbers_of_numpy_are_log_probabilities(self):
        assert perplexity(np.array([-1.0, -2.0])) == perplexity([np.float32(-1), np.int64(-2)]) == perplexity([-1, -2])
        assert corpus_perplexity(np.array([[-1.0], [-2.0]])) == corpus_perplexity([[-1], [-2]])
        windows = rolling_perplexity([np.float32(-1)] * 3, np.int64(2))
        assert windows == rolling_perplexity([-1] * 3, 2)
        assert {type(window.stop) for window in windows} == {int}

    def test_an_iterator_is_shown_in_the_error(self):
        with pytest.raises(DataError, match="Expected a list of log-probabilities, got <list_iterator"):
            perplexity(iter([-1.0]))

    def test_a_token_of_probability_zero_makes_perplexity_infinite(self):
        assert perplexity([-math.inf, 0]) == perplexity([-1e6]) == math.inf
        assert perplexity([0.0, -0.0, 0]) == 1

    @pytest.mark.parametrize(
        ("logprobs", "pointer"),
        [
            ([-1, 0.5], "/1"),
            ([math.nan], "/0"),
            ([None], "/0"),
            ([True], "/0"),
            ({"content": [{"token": "a"}]}, "/content/0"),
        ],
    )
    def test_a_value_that_is_not_a_log_probability_is_refused(self, logprobs, pointer):
        with pytest.raises(DataError, match="Expected a log-probability") as caught:
            perplexity(logprobs)
        assert caught.value.pointer == pointer

    @pytest.mark.parametrize("logprobs", [[], {"content": []}])
    def test_a_document_without_tokens_is_refused(self, logprobs):
        with pytest.raises(DataError, match="at least one token"):
            perplexity(logprobs)

    @pytest.mark.parametrize("logprobs", ["-1", 3, None, {"tokens": []}])
    def test_something_other_than_log_probabilities_is_refused(self, logprobs):
        with pytest.raises(DataError, match="Expected"):
            perplexity(logprobs)

    @pytest.mark.parametrize(
        ("tokens", "window", "stride", "expected"),
        [
            (5, 2, None, [(0, 2), (2, 4), (3, 5)]),
            (4, 2, None, [(0, 2), (2, 4)]),
            (5, 3, 1, [(0, 3), (1, 4), (2, 5)]),
            (2, 3, None, [(0, 2)]),
            (3, 3, 3, [(0, 3)]),
        ],
    )
    def test_windows_cover_every_token(self, tokens, window, stride, expected):
        values = [-float(number) for number in range(tokens)]
        profile = rolling_perplexity(values, window, stride)
        assert [(part.start, part.stop) for part in profile] == expected
        assert all(part.perplexity == perplexity(values[part.start : part.stop]) for part in profile)

    @pytest.mark.parametrize(("window", "stride"), [(0, None), (2, 0), (2, 3)])
    def test_a_window_that_skips_tokens_is_refused(self, window, stride):
        with pytest.raises(OptionError, match=r"Expected `(window|stride)` to be"):
            rolling_perplexity([-1.0], window, stride)


class TestLeaves:
    """Texts within documents."""

    @pytest.fixture(autouse=True)
    def _libraries(self):
        needs_text()

    @pytest.mark.parametrize("choice", ["bleu", "chrf"])
    def test_the_signature_contains_that_of_sacrebleu(self, choice):
        import sacrebleu

        signature = arbitre.Comparator({"type": "string", "x-arbitre": {"distance": choice}}).signature.long
        option = arbitre.Signature.parse(signature).entries[0][1]
        assert "sacrebleu=nrefs:1|case:mixed|" in option
        assert option.endswith(f"|version:{sacrebleu.__version__})")

    def test_the_best_of_several_references_counts(self):
        options = {"distance": "rouge-lsum", "alternatives": True}
        comparator = arbitre.Comparator({"type": "string", "x-arbitre": options})
        references = ["Hello world on this website", "Hello everyone on Blent"]
        quality = comparator.compare(gold=references, predicted="Welcome everyone on Blent website").quality
        assert quality == pytest.approx(2 / 3, abs=1e-12)

    def test_bleu_with_weights_is_that_of_the_public_function(self):
        distance = catalogue.build({"bleu": {"weights": [0.5, 0.5]}})
        for gold, predicted in [("a b c", "a b d"), ("a b", "a b c"), ("a", "a b"), ("a b", "b a")]:
            assert distance(gold, predicted) == pytest.approx(1 - bleu(predicted, gold, [0.5, 0.5]), abs=1e-15)

    def test_weights_that_do_not_sum_to_one_are_refused_with_their_place(self):
        with pytest.raises(SchemaError, match=r"the sum 0\.5") as caught:
            catalogue.build({"bleu": {"weights": [0.5]}}, pointer="/d")
        assert caught.value.pointer == "/d/bleu/weights"

    def test_texts_without_words_are_equal_for_rouge_lsum(self):
        distance = catalogue.build("rouge-lsum")
        assert (distance("...", "!"), distance("...", "a"), distance("a", "")) == (0, 1, 1)

    def test_rouge_lsum_is_that_of_the_public_function(self):
        gold, predicted = "a b c\nd e f", "a x c d\nf e"
        assert catalogue.build("rouge-lsum")(gold, predicted) == 1 - rouge(predicted, gold, "rougeLsum").f1
