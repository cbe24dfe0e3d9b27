"""The lambdas that cross-validation tries, for each penalty."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wordkit.models import TraceLassoCV


@pytest.mark.parametrize("penalty", ["ridge", "elastic-net", "pairwise-elastic-net"])
def test_cross_validation_tries_lambdas_that_fit_the_penalty(penalty):
    """As good as ridge regression's own choice, on correlated columns, and not at an end of the grid."""
    draw = np.random.default_rng(0)
    X = np.repeat(draw.standard_normal((60, 3)), 4, axis=1) + 0.3 * draw.standard_normal((60, 12))
    X *= draw.uniform(0.5, 3, 12)
    y = X[:, :4].sum(axis=1) + draw.standard_normal(60)
    model = TraceLassoCV(penalty=penalty, cv=5, n_lams=25).fit(X, y)
    best = int(np.argmin(model.cv_mean_))
    assert 0 < best < 24
    ridge = make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(-4, 4, 50)))
    peer = -cross_val_score(ridge, X, y, cv=5, scoring="neg_mean_squared_error").mean()
    assert model.cv_mean_[best] < 1.15 * peer
