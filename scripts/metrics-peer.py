#!/usr/bin/env python3
"""Does what `touchstone metrics` does, with azure-ai-evaluation 1.10.0 itself: JSON Lines in, JSON Lines out. Tests and benches ask it.

tests/fixtures/metrics/pairs.jsonl was written by us and filled in by two runs, with NLTK 3.10.4 and then with NLTK 3.9.1:
  scripts/metrics-peer.py --fixture scores < pairs.jsonl > filled.jsonl
  scripts/metrics-peer.py --fixture scores_3_9_1 < filled.jsonl > pairs.jsonl

Needs the package, and NLTK in the version that is asked for; NLTK_DATA names a folder with corpora/wordnet (Debian's wordnet-base and
the files lexnames and index.sense, which may hold nothing of use, will do), tokenizers/punkt_tab/english and misc/perluniprops, and these as archives beside them, for a measurement that
is fair: each call looks for wordnet.zip, perluniprops.zip, punkt.zip and punkt_tab.zip. Usage:
  scripts/metrics-peer.py < pairs.jsonl                       writes {"id", "outputs"} for each {"id", "response", "ground_truth"}
  scripts/metrics-peer.py --fixture KEY < pairs.jsonl         writes the lines as they are, with the bare scores under KEY
  scripts/metrics-peer.py --bench < pairs.jsonl               writes documents per second of processor time, for six: F1, BLEU, GLEU, METEOR, ROUGE-1 and ROUGE-L
  scripts/metrics-peer.py --fuzzy < pairs.jsonl               writes ratio/100 of rapidfuzz for each
"""
import json
import sys
import time


def evaluators():
    """The six of the package, ROUGE in all its kinds."""
    import nltk
    from azure.ai.evaluation import (
        BleuScoreEvaluator,
        F1ScoreEvaluator,
        GleuScoreEvaluator,
        MeteorScoreEvaluator,
        RougeScoreEvaluator,
        RougeType,
    )

    # Where an archive is missing it would try to fetch it before every text, and go on without it all the same.
    nltk.download = lambda *_, **__: True
    found = {
        "f1": F1ScoreEvaluator(),
        "bleu": BleuScoreEvaluator(),
        "gleu": GleuScoreEvaluator(),
        "meteor": MeteorScoreEvaluator(),
    }
    for kind in ["rouge1", "rouge2", "rouge3", "rouge4", "rouge5", "rougeL"]:
        found[kind] = RougeScoreEvaluator(RougeType(kind))
    return found


class NoWords:
    """A WordNet without a single word."""

    def synsets(self, _):
        return []


def without_synonyms(row):
    from azure.ai.evaluation._common.utils import nltk_tokenize
    from nltk.translate.meteor_score import meteor_score

    truth, response = nltk_tokenize(row["ground_truth"]), nltk_tokenize(row["response"])
    return meteor_score([truth], response, wordnet=NoWords())


def bare(outputs):
    """The scores alone; of ROUGE precision, recall and their mean."""
    scores = {}
    for name, fields in outputs.items():
        if not isinstance(fields, dict):
            scores[name] = fields
        elif name.startswith("rouge"):
            scores[name] = [fields[f"rouge_{part}"] for part in ["precision", "recall", "f1_score"]]
        else:
            scores[name] = fields[f"{name}_score"]
    return scores


def main():
    rows = [json.loads(line) for line in sys.stdin if line.strip()]
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    if mode == "--fuzzy":
        from rapidfuzz import fuzz

        for row in rows:
            print(json.dumps({"id": row["id"], "fuzzy": fuzz.ratio(row["response"], row["ground_truth"]) / 100}))
        return
    all_of_them = evaluators()

    def measure(row):
        ask = {"response": row["response"], "ground_truth": row["ground_truth"]}
        return {name: evaluator(**ask) for name, evaluator in all_of_them.items()}

    if mode == "--bench":
        for kind in ["rouge2", "rouge3", "rouge4", "rouge5"]:
            del all_of_them[kind]
        measure(rows[0])
        begun = time.process_time()
        for row in rows:
            measure(row)
        print(len(rows) / (time.process_time() - begun))
        return
    for row in rows:
        outputs = measure(row)
        outputs["meteor_exact_stem_only"] = without_synonyms(row)
        if mode == "--fixture":
            # What another version of NLTK does not change stands there already.
            if bare(outputs) != row.get("scores"):
                row[sys.argv[2]] = bare(outputs)
        else:
            row = {"id": row["id"], "outputs": outputs}
        print(json.dumps(row, ensure_ascii=False))


main()
