"""The transition matrix of a hidden Markov tree model as a map from vectors of dependents to vectors like those of their heads.

Grave (thesis, 2014, section 3.2): with T[i, j] = p(class i of a child | class j of its parent) and v the distribution over
classes that represents an adjective, T^T v can be compared with the vectors of nouns; so can T^T v of a noun with those of
verbs. On a chain the dependent comes first, and T v is what follows it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from wordkit.errors import WordkitError
from wordkit.models.hmtm import HiddenMarkovTree
from wordkit.models.tree_model import TreeModel


def overall_transitions(model: HiddenMarkovTree) -> np.ndarray:
    """T float64 (C child, C parent); columns sum to 1. Of a model with labels: the mean over the labels of a class's children."""
    transitions = model.transitions_.astype(np.float64)
    mass = model.statistics_.parent_mass
    total = mass.sum(axis=0)
    weights = np.divide(mass, total, out=np.full(mass.shape, 1 / len(mass)), where=total > 0)
    return np.asarray(np.einsum("lij,lj->ij", transitions, weights))


@dataclass(frozen=True)
class Transitions:
    """``matrix``: (C child, C parent); ``structure``: ``tree`` or ``chain``; ``name``: of the model, for errors."""

    matrix: np.ndarray
    structure: str
    name: str

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Transitions:
        """Those of a model file. Raises DataError as :meth:`wordkit.models.tree_model.TreeModel.load`."""
        model = TreeModel.load(path).model
        return cls(overall_transitions(model), model.structure, os.fspath(path))

    def of_dependents(self, vectors: np.ndarray) -> np.ndarray:
        """T^T v on trees, T v on chains, for each row v of (n, C).

        Raises:
            WordkitError: vectors of another dimension than the model has classes.
        """
        if vectors.shape[-1] != len(self.matrix):
            classes = f"{len(self.matrix)} classes, but the vectors have {vectors.shape[-1]} dimensions"
            raise WordkitError(f"{self.name}: {classes} (train-hmtm --vectors-out writes them)")
        return vectors @ (self.matrix if self.structure == "tree" else self.matrix.T)


def as_distributions(vectors: np.ndarray) -> np.ndarray:
    """Rows divided by their sums; zero rows stay."""
    sums = vectors.sum(axis=-1, keepdims=True)
    return np.divide(vectors, sums, out=np.zeros(vectors.shape), where=sums > 0)
