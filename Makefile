# Everything starts here: each target first makes what it needs, in the project folder only.

.DEFAULT_GOAL := help
STAGE ?= local
SERVICE ?=
PY := .venv/bin/python

# Compiled modules are kept, whatever the shell says: without them each test process compiles all tests anew.
export PYTHONDONTWRITEBYTECODE :=

# A Python of 3.11 or newer that really starts: a version manager's shim may be there and fail.
SYSTEM_PYTHON = $(shell for python in python3.13 python3.12 python3.11 python3 /usr/bin/python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$python; break; }; done)

.PHONY: help run up test test-fast test-oldest test-aurora fault mutants clients stop status logs reset check synth deploy migrate house setup

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: setup ## start everything on this machine, remember and recall the shipped text, work three tickets; OPENSEARCH=1 too
	@$(PY) -m infra.local run $(if $(OPENSEARCH),--opensearch)

up: setup ## like run, without the demo
	@$(PY) -m infra.local up $(if $(OPENSEARCH),--opensearch)

# Several processes share the tests: a file's stay together, and so do those of a stack (tests/plugins/groups.py).
WORKERS ?= 2
PARALLEL := -n $(WORKERS) --dist loadgroup

test: setup ## run every test but those of check; starts and stops what it needs, beside a running stack; WORKERS=2
	@$(PY) -m infra.local model
	@$(PY) $(if $(ARGS),-m pytest $(ARGS),scripts/lanes.py $(PARALLEL))

test-fast: setup ## run the unit tests, which need no services: for between two edits
	@$(PY) -m pytest -q $(PARALLEL) $(or $(ARGS),tests/unit --ignore=tests/unit/structure)

test-oldest: setup ## run the unit tests on the oldest supported Python, where this machine has one; part of test, too
	@$(PY) infra/local/bootstrap.py oldest; case $$? in \
		0) .local/oldest/bin/python -m pytest -q -p no:cacheprovider $(PARALLEL) \
			$(or $(ARGS),tests/unit --ignore=tests/unit/structure) ;; \
		3) ;; *) exit 1 ;; esac

# Where texts are compared and sorted: pages, natural keys, duplicates, checksums of rows, the schema.
AURORA := $(addprefix tests/, integration/storage/test_collation.py integration/storage/test_edges.py \
	integration/storage/test_node_reads.py integration/storage/test_races.py integration/storage/test_reads.py \
	integration/storage/test_schema_changes.py integration/rebuild/test_rebuilding.py \
	contract/test_memory_graphs.py contract/test_tickets.py)

test-aurora: setup ## run what depends on collation on PostgreSQL 17 with en_US.UTF-8, as Aurora has it; part of test, too
	@$(PY) -m pytest -q -p no:cacheprovider $(PARALLEL) --aurora $(or $(ARGS),$(AURORA))

fault: setup ## kill workers and the orchestrator in every state of an investigation; part of test, too
	@$(PY) -m infra.local model
	@$(PY) -m pytest tests/fault $(ARGS)

clients: setup ## make what is generated of clients/ from the API's own description
	@$(PY) scripts/openapi.py > .local/openapi.json
	@$(or $(wildcard .local/uv/bin/uv),uv) run --quiet --no-project --python .venv/bin/python \
		--script scripts/clients.py .local/openapi.json
	@$(PY) -m ruff check --quiet --fix clients && $(PY) -m ruff format --quiet clients
	@$(PY) -m scripts.typescript types .local/openapi.json

mutants: setup ## try the drawn mutants of tests/mutants on the tests; half an hour
	@$(or $(wildcard .local/uv/bin/uv),uv) run --quiet --no-project --script scripts/mutants.py run $(ARGS)

stop: setup ## stop what run started; the data stays
	@$(PY) -m infra.local stop

status: setup ## show what runs, and where
	@$(PY) -m infra.local status || true

logs: setup ## show the logs; SERVICE=postgres|aws|api|opensearch for one, FOLLOW=1 to go on
	@$(PY) -m infra.local logs $(SERVICE) $(if $(FOLLOW),--follow)

reset: setup ## delete all data of this machine's stack; asks, unless FORCE=1
	@$(PY) -m infra.local reset $(if $(FORCE),--force)

check: setup ## lint, formatting, types, lock, and the tests that hold the code's shape
	@.local/uv/bin/uv lock --check --quiet --python $(PY) || uv lock --check --quiet --python $(PY)
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m pyright --pythonpath $(PY)
	@$(PY) -m pytest -q $(PARALLEL) tests/unit/structure

synth: setup ## write the CloudFormation templates to cdk.out/; STAGE=local|prod
	@$(PY) -m infra.local synth --stage $(STAGE)

deploy: setup ## deploy to the AWS account of your shell's credentials; CONTEXT='-c name=value ...'
	@$(PY) -m infra.local deploy $(CONTEXT)

migrate: setup ## start this machine's PostgreSQL and apply the migrations
	@$(PY) -m infra.local migrate

house: setup ## count lines, modules, records, and what one request runs through; before and now
	@$(PY) scripts/house.py

setup: # the project's own Python and packages; nothing when they are current
	@$(if $(SYSTEM_PYTHON),,$(error cairn needs a Python of 3.11 or newer))$(SYSTEM_PYTHON) infra/local/bootstrap.py
