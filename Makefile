# wordkit: make demo, make test, make lint; make help lists the rest.
# Every target sets up what it needs: nothing has to be installed beforehand but Python 3.10+, its headers and a C compiler.

PYTHON ?= python3
DATA ?=
PEERS ?=
VENV := .venv
DEMO_VENV := .venv-demo
PEERS_VENV := .venv-peers
BIN := $(VENV)/bin
SOURCES := setup.py pyproject.toml $(wildcard cython_ext/*.pyx cython_ext/*.pxd cython_ext/*.h)
# Where output of experiments goes.
RESULTS ?= results
export DATA

.PHONY: help test lint demo bench debug build clean experiment-rpa experiment-rpa-noise experiment-hmtm experiment-hmtm-approximation experiment-forest experiment-trace-lasso experiment-trace-lasso-real experiment-tagging experiment-tmira experiment-nbest experiment-dcme experiment-evaluate samples

help:
	@grep -E '^[a-z-]+:.*## ' Makefile | sed 's/:.*## /\t/'

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[dev,eval,plot,zstd]'
	touch $@

build: $(VENV)/.installed ## install into .venv, editable, with all extras

# Two workers, whole files each; the kernels' GEMM is one thread's work, as on the command line.
test: $(VENV)/.installed ## the whole test suite
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(VENV)/.installed ## style and types
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

# The demo uses wordkit as a user gets it: installed, not editable, run-time requirements only.
$(DEMO_VENV)/.installed: $(SOURCES) $(shell git ls-files wordkit 2>/dev/null)
	$(PYTHON) -m venv $(DEMO_VENV)
	$(DEMO_VENV)/bin/python -m pip install -q .
	touch $@

demo: $(DEMO_VENV)/.installed ## install as a user does, and run the main job on data_samples
	PATH="$(CURDIR)/$(DEMO_VENV)/bin:$$PATH" bash data_samples/demo.sh

$(PEERS_VENV)/.installed:
	$(PYTHON) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/python -m pip install -q gensim fasttext conllu scikit-learn hmmlearn spams-bin cvxpy scs clarabel
	touch $@

bench: $(VENV)/.installed $(PEERS_VENV)/.installed ## speed beside the peers, in one run (DATA=folder of real texts, PEERS=folder of binaries)
	$(BIN)/python -m tests.benchmarks.run --peer-python $(PEERS_VENV)/bin/python --output $(RESULTS)/bench.tsv $(if $(DATA),--data "$(DATA)") $(if $(PEERS),--peers "$(PEERS)")

experiment-rpa: $(VENV)/.installed ## Tables 3 and 4 of the RPA paper on DATA=folder
	$(BIN)/python -m tests.benchmarks.experiment_rpa --data "$(DATA)" --output $(RESULTS)/rpa.tsv

experiment-rpa-noise: $(VENV)/.installed ## Figures 1 and 2 of the RPA paper
	$(BIN)/python -m tests.benchmarks.experiment_rpa_noise --output $(RESULTS)/rpa-noise

experiment-hmtm: $(VENV)/.installed ## chains, trees and labelled trees on the treebanks of DATA=folder
	$(BIN)/python -m tests.benchmarks.experiment_hmtm --data "$(DATA)" --output $(RESULTS)/hmtm

experiment-hmtm-approximation: $(VENV)/.installed ## Figures 2.2 and 2.3 of Grave's thesis, on the UD trees of DATA=folder
	$(BIN)/python -m tests.benchmarks.experiment_hmtm_approximation --data "$(DATA)" --output $(RESULTS)/hmtm-approximation

experiment-forest: $(VENV)/.installed $(PEERS_VENV)/.installed ## Tables 1, 2 and 4, Figures 2 to 4 of the sparse coding paper on the texts of DATA=folder
	$(BIN)/python -m tests.benchmarks.experiment_forest --data "$(DATA)" --output $(RESULTS)/forest --peer-python $(PEERS_VENV)/bin/python

experiment-nbest: $(VENV)/.installed ## from the treebanks of DATA=folder to reranked parses
	$(BIN)/python -m tests.benchmarks.experiment_nbest --data "$(DATA)" --output $(RESULTS)/nbest

# FULL=1: the sizes of the thesis, which take hours; a run that is called again goes on.
experiment-trace-lasso: $(VENV)/.installed ## Figures 7.1 to 7.4 of Grave's thesis, small; FULL=1: as there
	$(BIN)/python -m tests.benchmarks.experiment_trace_lasso --output $(RESULTS)/trace-lasso $(if $(FULL),--full)

experiment-trace-lasso-real: $(VENV)/.installed ## trace Lasso and Lasso on the film reviews of DATA=folder, words and letters
	for features in words letters; do $(BIN)/python -m tests.benchmarks.experiment_trace_lasso_real --data "$(DATA)" \
	  --features $$features --output $(RESULTS)/trace-lasso-real.$$features.tsv || exit 1; done

experiment-tagging: $(VENV)/.installed ## Tables 4.1 to 4.6 of Grave's thesis on the entities and supersenses of DATA=folder
	$(BIN)/python -m tests.benchmarks.experiment_tagging --data "$(DATA)" --output $(RESULTS)/tagging

experiment-dcme: $(VENV)/.installed ## Figure 2 and Tables 1, 2c, 2d of the DCME paper on the texts and questions of DATA=folder
	$(BIN)/python -m tests.benchmarks.experiment_dcme --data "$(DATA)" --output $(RESULTS)/dcme

experiment-tmira: $(VENV)/.installed ## Table 1, Figures 3 and 4 of the tensor-MIRA paper on the lists of DATA=folder
	$(BIN)/python -m tests.benchmarks.experiment_tmira --data "$(DATA)" --output $(RESULTS)/tmira

experiment-evaluate: $(VENV)/.installed $(PEERS_VENV)/.installed ## all evaluations of vectors, over what each method makes of the texts of DATA=folder
	$(BIN)/python -m tests.benchmarks.experiment_evaluate --data "$(DATA)" --output $(RESULTS)/evaluate --peer-python $(PEERS_VENV)/bin/python

samples: $(VENV)/.installed ## make the files of data_samples anew
	$(BIN)/python data_samples/generate.py

debug: | $(BIN)/python ## kernels with bounds checks, and their tests, in a copy of the tree
	rm -rf .debug && mkdir .debug && git ls-files -z | tar -c --null -T - | tar -x -C .debug
	$(BIN)/python -m pip install -q 'cython>=3.0' 'setuptools>=77' numpy scipy click tqdm pytest hypothesis
	cd .debug && WORDKIT_DEBUG=1 ../$(BIN)/python setup.py -q build_ext --inplace
	cd .debug && PYTHONPATH=. ../$(BIN)/python -m pytest tests/kernels tests/formats -p no:cacheprovider

clean: ## remove what was built
	rm -rf build .debug $(VENV) $(DEMO_VENV) $(PEERS_VENV) wordkit/_kernels/*.so cython_ext/*.c *.egg-info
