"""The declarations of the commands of `arbitre text`."""

from __future__ import annotations

from typing import Final

from arbitre.options import (
    ID_KEY,
    REQUIRED,
    SCHEMA,
    SHOWN_LANG,
    Annotations,
    LanguageName,
    Output,
    Tokenizer,
    argument,
    option,
    switch,
)

READ_FILES: Final = switch("Read CANDIDATE and REFERENCE from text files (UTF-8).")
CANDIDATE: Final = argument("CANDIDATE", "The text under evaluation.")
REFERENCES: Final = argument("REFERENCE...", "The reference texts.")


class TextRouge(Output):
    """Compute ROUGE of a text. With several references, the best score counts."""

    candidate: str = CANDIDATE
    references: list[str] = REFERENCES
    kind: str = option("rouge1", "Kind of ROUGE: rouge1 to rouge9, rougeL, rougeLsum or rougeS.", "KIND")
    tokenizer: Tokenizer = option(
        "words", "How to split texts: into words of any script (words), or into ASCII words as rouge-score does."
    )
    stem: bool = switch("Stem English words; requires --tokenizer rouge-score.")
    skip: int = option(4, "Maximum number of words between the two words of a skip-bigram (rougeS).", "N")
    files: bool = READ_FILES
    lang: LanguageName = SHOWN_LANG


class TextBleu(Output):
    """Compute BLEU of a text against all its references, without smoothing."""

    candidate: str = CANDIDATE
    references: list[str] = REFERENCES
    weights: str = option(
        "0.25,0.25,0.25,0.25", "Weights of the n-grams of length 1, 2, and so on. They must add up to 1.", "W,W,..."
    )
    tokenize: str = option(
        "13a", "Tokenizer of sacrebleu: 13a, intl, char, zh, or none, which splits at spaces.", "NAME"
    )
    files: bool = READ_FILES
    lang: LanguageName = SHOWN_LANG


class TextPerplexity(Output):
    """Compute the perplexity of documents, and of all their tokens, from the log-probabilities of the tokens."""

    logprobs: list[str] = argument(
        "FILE...",
        "JSON files with log-probabilities, one document each, or - for standard input: a list of numbers, or logprobs"
        " as in answers of OpenAI's API.",
    )
    window: int | None = option(None, "Also list the perplexity of each window of N tokens.", "N", least=1)
    stride: int | None = option(
        None,
        "Number of tokens between the starts of two consecutive windows. Default: the value of --window.",
        "N",
        least=1,
    )
    pointer: str | None = option(
        None, "Read records that contain the log-probabilities at this JSON Pointer.", "POINTER", flags=("--logprobs",)
    )
    id_key: str = ID_KEY
    lang: LanguageName = SHOWN_LANG


class TextCorpus(Annotations, Output):
    """Compute ROUGE, BLEU and chrF of the texts at one path of a corpus, and the ordinary scores of the path."""

    gold: str = argument("GOLD", "Gold documents: a folder, a .json, .jsonl, .csv or .parquet file, or a glob.")
    predicted: str = argument("PREDICTED", "Predictions: a folder, a .json, .jsonl, .csv or .parquet file, or a glob.")
    schema: str = SCHEMA
    path: str = option(REQUIRED, "Wildcard path of the texts, such as /summary.", "PATH")
    kind: list[str] = option(
        (), "Kind of ROUGE. May be repeated. Default: rouge1, rouge2, rougeL and rougeLsum.", "KIND"
    )
    segmentation: bool = switch("Compare segmentations instead of texts, with WindowDiff, Pk and other scores.")
    id_key: str = ID_KEY
    lang: LanguageName = SHOWN_LANG
