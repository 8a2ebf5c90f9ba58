# `make help` lists the targets of every day, `make prove` and `make bench` the long ones.  Everything works from a fresh
# clone, as root and as a user.
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
VERSION = $(shell sed -n 's/^VERSION = "\(.*\)"/\1/p' app/version.py)
PYTHON ?= python3
# each a distribution of its own; constraints.txt says where pip finds them
PACKAGES := packages/celery-durable packages/fairlane-client packages/testlist
# processes of the suite: a third of its time is waiting; the first tier waits less, and each process begins with 15 s
JOBS ?= 4
check quick test: JOBS = $(shell getconf _NPROCESSORS_ONLN)
PYTEST = $(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(COVER)
# make test COVERAGE=1 measures the branches of app and tasks, in all processes
COVER = $(if $(COVERAGE),--cov --cov-report=term:skip-covered)
# of make test-all: where to keep the duration of each test
DURATIONS = $(if $(DURATIONS_FILE),-p tests.durations --durations-file=$(DURATIONS_FILE))
# of prove-fairness, at most
FIRE_SECONDS ?= 1200

# without it pytest compiles every test again in each process of a run: five seconds apiece
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help prove bench setup run quick test test-all check messages format release prove-release prove-kill prove-rolling prove-failover prove-broker prove-receive prove-versions prove-celery prove-model prove-quota prove-bills prove-fairness prove-cells prove-moves prove-simulation prove-schedule prove-lifecycle prove-retention prove-migrations prove-inventory prove-bombs prove-reads prove-sockets prove-grammars prove-agreement prove-soak soak bench-broker bench-accept bench-quota bench-growth bench-start bench-memory bench-inventory bench-sandbox dist image requirements sbom packaging clean

help: ## list the targets of every day
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | grep -vE '^(prove|bench)-' | sed 's/:.*## /\t/' | expand -t 18

prove: ## list the long proofs
	@grep -hE '^prove-[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

bench: ## list the benchmarks
	@grep -hE '^bench-[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

INSTALL = @$(PYTHON) tools/install.py $(VENV) -c constraints.txt $(PACKAGES:%=-e %)
DECLARED = pyproject.toml $(PACKAGES:=/pyproject.toml) constraints.txt

$(VENV)/.installed: $(DECLARED)
	$(INSTALL) -e '.[embedded,dev]'
	@touch $@ $(VENV)/.runs

# with what checks the image, Compose and the chart
$(VENV)/.packaging: $(DECLARED)
	$(INSTALL) -e '.[embedded,dev,packaging]'
	@touch $@ $(VENV)/.installed $(VENV)/.runs

# what running needs; whoever has the tools as well has this
$(VENV)/.runs: $(DECLARED)
	$(INSTALL) -e '.[embedded]'
	@touch $@

setup: $(VENV)/.installed ## install everything for running and testing into .venv

packaging: $(VENV)/.packaging ## install also what checks the image, Compose and the chart

run: $(VENV)/.runs ## run the whole service: make run PORT=8000 REPOS=folder-of-repositories
	$(BIN)/fairlane up --port $(PORT) $(REPOS)

quick: setup ## before each commit: the tests of `make test` that the change can have broken
	@chosen="$$($(BIN)/python tools/changed.py)" && $(PYTEST) -m "not proof and not release and not rule" $$chosen

test: setup ## run everything but proofs, rules and what a release must show, on an embedded PostgreSQL
	$(PYTEST) -m "not proof and not release and not rule"

test-all: setup ## run the bounded proofs as well, as CI does
	$(PYTEST) -m "not release and not rule" $(DURATIONS)

check: setup ## lint, types, layers, spelling, and the rules of sizes, names, texts and documents
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell
	$(PYTEST) -m rule tests/contract

messages: setup ## extract the texts of the pages into the catalogues, and compile them
	$(BIN)/python tools/messages.py

format: setup ## format and mend what ruff can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

release: setup ## release a version, or say what that would do: make release VERSION=0.4.0 DRY_RUN=1
	$(BIN)/python tools/release.py $(VERSION) $(if $(DRY_RUN),--dry-run)

prove-release: setup ## what a release must show: wheels in new environments, the last three releases beside each other and this one, real runners
	$(PYTEST) -m release

prove-kill: setup ## kill real workers 50 times; nothing may be lost or billed twice
	FAIRLANE_KILLS=50 $(BIN)/python -m pytest tests/e2e/test_kill.py -p no:randomly --timeout 900 -s

prove-rolling: setup ## restart nodes under load 50 times; nothing may be lost, nobody charged
	ROLLING_RESTARTS=50 $(BIN)/python -m pytest tests/e2e/test_rolling.py -p no:randomly --timeout 1800 -s

prove-failover: setup ## kill the primary of a synchronous pair 6 times under traffic, and recover to a point in time
	FAILOVER_ROUNDS=6 $(BIN)/python -m pytest tests/e2e/test_failover.py tests/e2e/test_point_in_time.py -p no:randomly -s

prove-broker: setup ## kill nodes, children and sessions 1000 times, restart PostgreSQL 50 times, feed 100 MB of poison
	BROKER_KILLS=1000 BROKER_RESTARTS=50 BROKER_POISON_MB=100 $(BIN)/python -m pytest packages/celery-durable/tests/test_prove.py \
		packages/celery-durable/tests/test_poison.py -p no:randomly -s

prove-receive: setup ## receive 100,000 messages each of Redis and RabbitMQ under traffic, killed 40 times
	RECEIVE_MESSAGES=100000 RECEIVE_KILLS=40 $(BIN)/python -m pytest packages/celery-durable/tests/test_receiving_kills.py \
		-p no:randomly -s --timeout 3600

prove-versions: setup ## the broker's tests with each version of Python, Celery and PostgreSQL that is here
	$(BIN)/python packages/celery-durable/tools/versions.py

prove-celery: setup ## Celery's integration tests and kombu's tests of transports over the broker, with a redis-server for results
	$(BIN)/python packages/celery-durable/tools/celery_tests.py

prove-model: setup ## visit every state of wider models of a job's life, about 20 million
	MODEL_WIDE=1 $(BIN)/python -m pytest tests/model -p no:randomly --timeout 1800 -s

prove-quota: setup ## every order of statements, 100,000 accepts at a limit, 10,000 keys, 200 lost commits, 6,000 acts of chaos
	RACE_SWITCHES=all RACE_ACCEPTS=100000 RACE_KEYS=10000 RACE_LOST=200 CHAOS_ACTS=6000 $(BIN)/python -m pytest tests/race \
		tests/e2e/test_lifecycle_chaos.py -p no:randomly -s

prove-bills: setup ## 1,000 random lives of specifications: each costs what its dry run said
	BILL_LIVES=1000 $(BIN)/python -m pytest tests/services/specifications/test_specification_bills.py -k random_lives --timeout 1800

prove-fairness: setup ## 100,000 jobs on 8 nodes that are killed and stopped while tiers change: make prove-fairness FIRE_SECONDS=1200
	FIRE_JOBS=100000 FIRE_SECONDS=$(FIRE_SECONDS) FIRE_NODES=8 FIRE_STOP=60 FIRE_PAUSE=3 $(BIN)/python -m pytest \
		tests/e2e/test_limits_under_fire.py -p no:randomly -s

prove-cells: setup ## move 200 of 1,000 accounts between four databases under load, with nodes and movers that are killed
	CELL_COUNT=4 CELL_USERS=1000 CELL_MOVES=200 CELL_PAUSE=3 CELL_RESTS=1 $(BIN)/python -m pytest \
		tests/e2e/test_cells_under_fire.py -p no:randomly -s

prove-moves: setup ## what races with a move, at each of its statements; cells that fall silent in each way
	CELL_PLACES=all $(PYTEST) tests/services/cells tests/e2e/test_silent_cells.py

prove-simulation: setup ## compare simulated with real waits, within 15 %
	SIMULATION_SEED=5 $(BIN)/python -m pytest tests/e2e/test_simulation.py -p no:randomly -s

prove-schedule: setup ## 30 days with three beats that are killed 500 times: each slot is sent once, and none is left out
	BEAT_DAYS=30 BEAT_KILLS=500 $(BIN)/python -m pytest tests/e2e/test_beats.py -p no:randomly -s --timeout 3600

prove-lifecycle: setup ## 1000 long random histories of users, workers and accidents through the real services
	LIFECYCLE_EXAMPLES=1000 LIFECYCLE_STEPS=60 $(BIN)/python -m pytest tests/services/jobs/test_machine.py \
		tests/services/specifications/test_specification_machine.py --hypothesis-profile=new -p no:randomly --timeout 7200 -s

prove-retention: setup ## a simulated year of 10,000 users, pruned weekly; 60 rounds of jobs that end meanwhile; a million reservations
	PRUNE_USERS=10000 PRUNE_DAYS=365 PRUNE_EVERY=7 PRUNE_ROUNDS=60 EXTEND_RESERVATIONS=1000000 $(BIN)/python -m pytest tests/services/operations/test_prune_year.py \
		tests/race/test_prune.py tests/services/operations/test_extend.py -p no:randomly --timeout 7200 -s

prove-migrations: setup ## the longest wait of a write while 10,000,000 rows get an index, beside the plain way
	$(BIN)/python -m bench.migrations --rows $(or $(ROWS),10000000)

prove-inventory: setup ## 100,000 mutated files over all parsers
	MUTATED_FILES=100000 $(BIN)/python -m pytest packages/testlist/tests/test_mutations.py -p no:randomly -s

prove-bombs: setup ## 62 repositories and hosts made to exhaust git: memory, processor time and cause of each
	BOMBS=all $(BIN)/python -m pytest packages/testlist/tests/git/test_bombs.py -p no:randomly -q -s

prove-reads: setup ## health and memory while 60 clients read results of 500,000 tests
	READS_TESTS=$${READS_TESTS:-500000} READS_CLIENTS=$${READS_CLIENTS:-60} READS_SECONDS=$${READS_SECONDS:-60} \
	$(BIN)/python -m pytest tests/web/test_heavy_reads.py -q -s -n 0 -p no:randomly --timeout 3600

prove-sockets: setup ## health within 100 ms with 500 connections of each slow kind, a read within 1 s while 60 sign in
	SOCKETS=500 SOCKETS_SECONDS=0.1 SOCKETS_READ_SECONDS=1 $(BIN)/python -m pytest tests/web/test_sockets.py -p no:randomly -s

prove-grammars: setup ## the tests of all languages with the oldest grammars that are allowed
	$(BIN)/python packages/testlist/tools/oldest_grammars.py

prove-agreement: setup ## compare the inventories of 29 releases of PyPI and npm with the runners' own lists
	AGREEMENT=all $(BIN)/python -m pytest packages/testlist/tests/test_runner_agreement.py -p no:randomly -s

prove-soak: setup ## ten minutes of `make soak`: what the whole service holds under load is flat, and nothing is lost
	SOAK_MINUTES=10 $(BIN)/python -m pytest tests/e2e/test_soak.py -p no:randomly -s --timeout 3600

soak: setup ## a whole service at 60 % load: memory, descriptors, connections and tables stay: make soak MINUTES=60 KEEP=folder
	$(BIN)/python -m bench.soak --minutes $(or $(MINUTES),60) $(if $(KEEP),--keep $(KEEP))

bench-broker: setup ## drain, latency and publish rate of the broker, next to its rivals
	PYTHONPATH=packages/celery-durable/bench:packages/celery-durable/tests $(BIN)/python -m durable_bench

bench-accept: setup ## accept and submit-to-start latency of the running service
	$(BIN)/python -m bench.accept

bench-quota: setup ## what 300,000 bills cost an accept and a finish, without and with running sums
	$(BIN)/python -m bench.quota

bench-growth: setup ## how each way grows with what is stored, or beside an earlier revision: make bench-growth KEEP=folder BEFORE=1c8e1241
	PYTHONPATH=tests/harness $(BIN)/python -m bench.growth$(if $(BEFORE),.before) $(KEEP) $(BEFORE)

bench-start: setup ## time from nothing to ready
	$(BIN)/python -m bench.start

bench-memory: setup ## memory of the parts of `fairlane up`, idle and busy
	$(BIN)/python -m bench.memory

bench-inventory: setup ## time and memory to inventory local repositories: make bench-inventory REPO=path
	$(BIN)/python -m bench.inventory $(REPO)

bench-sandbox: setup ## 1,000 small repositories, in turns beside an earlier revision: make bench-sandbox BEFORE=f5e0cd9
	$(BIN)/python -m bench.inventory.small --repositories $(or $(REPOSITORIES),1000) $(if $(BEFORE),--before $(BEFORE))

dist: $(VENV)/.runs ## build the wheels of everything into dist, with the versions of third parties: see docs/operating.md
	rm -rf dist
	$(BIN)/python -m pip wheel --disable-pip-version-check --no-deps --wheel-dir dist $(PACKAGES:%=./%) .
	grep -v '@' constraints.txt > dist/constraints.txt

image: ## build the image of docker/Dockerfile, labelled with version and revision
	docker build -f docker/Dockerfile -t fairlane:$(VERSION) --build-arg FAIRLANE_VERSION=$(VERSION) \
		--build-arg REVISION=$$(git rev-parse HEAD) $(if $(PYTHON_IMAGE),--build-arg PYTHON_IMAGE=$(PYTHON_IMAGE)) .

requirements: packaging ## write docker/requirements*.txt: what the image installs, from constraints.txt, with hashes
	$(BIN)/python tools/requirements.py

sbom: packaging dist ## list the parts of an environment such as the image's in dist/fairlane.cdx.json (CycloneDX)
	rm -rf build/image && $(PYTHON) -m venv --without-pip build/image
	$(BIN)/python -m pip --python build/image/bin/python install --disable-pip-version-check --quiet --no-deps --require-hashes -r docker/requirements.txt
	$(BIN)/python -m pip --python build/image/bin/python install --disable-pip-version-check --quiet --no-index --no-deps \
		-f dist celery-durable fairlane-client testlist fairlane
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-file dist/fairlane.cdx.json build/image/bin/python

clean: ## remove the environment and caches; data in FAIRLANE_HOME stays
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
