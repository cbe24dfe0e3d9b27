"""Results and their means."""

from __future__ import annotations

from wordkit.evaluation.result import Result, mean_metrics


def one(**metrics) -> Result:
    return Result("n", "d", metrics, 1, 2)


def test_mean_is_unweighted_over_those_that_define_it():
    assert mean_metrics([one(a=1.0, b=None), one(a=0.0, b=0.5), one(b=None)]) == {"a": 0.5, "b": 0.5}
    assert mean_metrics([one(a=None), one(a=None)]) == {"a": None}
    assert mean_metrics([]) == {}


def test_single_values_keep_their_type():
    assert mean_metrics([one(epochs=3)]) == {"epochs": 3}
    assert isinstance(mean_metrics([one(epochs=3)])["epochs"], int)


def test_as_dict_is_flat():
    result = Result("n", "d", {"a": 1.0}, 1, 2, details={"t": [1]}, parameters={"p": 2})
    assert result.as_dict() == {
        "a": 1.0,
        "t": [1],
        "covered": 1,
        "total": 2,
        "data": "d",
        "parameters": {"p": 2},
    }
    assert "parameters" not in one().as_dict()
