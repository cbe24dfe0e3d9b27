"""Evaluations: each takes a model or vectors and labelled data, and gives a :class:`wordkit.evaluation.result.Result`."""
