"""Which tests cover which entry of the users' log: every number has a file, or a reason why it has none yet."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

TRAIN, DATA, PREDICT, LINE, STOPPED = (
    f"tests/cli/test_{name}.py"
    for name in ("train_rpa", "train_rpa_data", "predict", "command_line", "interruption")
)
HMTM, HMTM_DATA, DECODE = (
    f"tests/cli/test_{name}.py" for name in ("train_hmtm", "train_hmtm_data", "decode")
)
OPENING, TEXT, LABELLED, MODELS = (
    f"tests/formats/test_{name}.py" for name in ("opening", "text", "labelled", "model_file")
)
NER = "tests/cli/test_evaluate_ner.py"
ANALOGY = "tests/cli/test_evaluate_analogy.py"
BROWN, COOCCUR = "tests/cli/test_brown.py", "tests/cli/test_cooccur.py"
DCME = "tests/cli/test_dcme.py"
REGRESSION = "tests/cli/test_trace_lasso.py"

# Where to look first; other files may have tests named after these numbers too. Numbers that are in neither list are
# found by the names of their tests alone (vectors, CoNLL, svmlight, neighbours).
COVERED = {
    "U004": TEXT, "U005": TEXT, "U009": OPENING, "U013": OPENING, "U016": LINE, "U017": OPENING, "U019": TEXT, "U023": LINE,
    "U024": TEXT, "U034": OPENING, "U043": TRAIN, "U044": LABELLED, "U045": LABELLED, "U046": PREDICT, "U047": PREDICT,
    "U048": PREDICT, "U049": TRAIN, "U050": DATA, "U051": DATA, "U052": PREDICT, "U054": DATA, "U055": TRAIN, "U056": TRAIN,
    "U058": LABELLED, "U059": "tests/models/test_bag_of_words.py", "U060": LABELLED, "U061": TRAIN, "U062": TRAIN,
    "U063": STOPPED, "U064": TEXT, "U065": TRAIN, "U069": BROWN, "U070": BROWN, "U079": STOPPED,
    "U067": COOCCUR, "U080": "tests/formats/test_counts.py", "U082": "tests/evaluation/test_classification.py",
    "U090": PREDICT, "U092": LINE, "U093": LINE, "U094": LINE, "U095": TRAIN, "U096": TRAIN, "U099": LINE, "U100": LINE,
    "U018": HMTM_DATA, "U053": DECODE, "U071": HMTM_DATA, "U072": DECODE, "U073": HMTM_DATA, "U074": HMTM, "U078": HMTM,
    "U066": DCME, "U068": DCME,
    "U075": "tests/models/test_sparse_coding.py", "U076": REGRESSION, "U077": REGRESSION,
    "U035": "tests/formats/test_tagged.py", "U039": NER, "U040": NER,
    "U083": ANALOGY, "U084": ANALOGY,
    "U088": "tests/formats/test_nbest.py",
    "U087": "tests/evaluation/test_categorization.py",
    "U102": MODELS, "U103": LINE, "U104": MODELS,
}  # fmt: skip

LATER = {
    "U089": "n-best features are written sparsely: absent is 0, and no line need have them all",
    "U098": "tqdm draws the bar, and report.py asks it for the rate of the whole run", "U101": "packaging: see .ci/run",
    "U091": "test_evaluation_equals_the_predictions in tests/cli/test_predict.py runs twice",
}  # fmt: skip


def numbers_in_tests() -> dict[str, set[str]]:
    """Number -> files with a test named after it, several in one name included."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        for name in re.findall(
            r"^def test((?:_u\d{3})+)_", path.read_text(encoding="utf-8"), flags=re.MULTILINE
        ):
            for number in re.findall(r"u\d{3}", name):
                found.setdefault(number.upper(), set()).add(str(path.relative_to(ROOT)))
    return found


@pytest.mark.parametrize("number", [f"U{n:03}" for n in range(1, 105)])
def test_every_entry_has_a_test_or_a_reason(number):
    named = numbers_in_tests().get(number, set())
    assert named or number in LATER, f"{number} has neither a test named after it nor a reason"
    assert not (number in COVERED and number in LATER)
    if number in COVERED:
        assert COVERED[number] in named, f"no test of {COVERED[number]} is named after {number}"
