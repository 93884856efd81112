# Targets
#   make test    everything that must hold: build, lint, unit and integration tests (installs what they need)
#   make lint    gofmt, go vet, staticcheck
#   make race    the concurrent packages under the race detector (needs a C compiler)
#   make fuzz    every fuzz target for FUZZTIME (default 60s)
#   make bench   Go benchmarks; results of peers are made by bench/ (see bench/README.md)
#   make tpc     TPC-H, TPC-DS and ClickBench's shapes checked against DuckDB at scale SCALE (default 1)
#   make differential  random queries compared with PostgreSQL and DuckDB: QUERIES (default 20000) from SEED; tables
#                with constraints changed at random here and on PostgreSQL: LIVES (default 300)
#   make chaos   the kill tests of Postgres and MongoDB for CHAOS_SECONDS (default 600) each with SEED
#   make model   random lives of CDC tables: SEEDS (default 10000) from SEED on
#   make soak    a CDC table under updates for SOAK_SECONDS (default 600) with SEED

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
export CGO_ENABLED ?= 0
FUZZTIME    ?= 60s
CHAOS_SECONDS ?= 600
SEED        ?= 1
QUERIES     ?= 20000
LIVES       ?= 300
SCALE       ?= 1
CACHE       := $(CURDIR)/.cache
export TIDEMARK_VENV ?= $(CACHE)/venv

STATICCHECK_VERSION := v0.8.2
STATICCHECK := $(CACHE)/bin/staticcheck

.PHONY: test build lint race fuzz bench chaos tpc model soak differential clean

test: build lint venv
	go test -timeout 20m $$(go list ./... | grep -v /integration/)
	go test -p 1 -timeout 40m ./integration/...
	go test -run '^$$' -fuzz '^FuzzParse$$' -fuzztime 10s -fuzzminimizetime 10x ./sql
	go test -run '^$$' -fuzz '^FuzzPlanning$$' -fuzztime 10s -fuzzminimizetime 10x ./plan
	$(MAKE) race

build:
	go build ./...

lint: $(STATICCHECK)
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not gofmt-ed: $$unformatted"; exit 1; fi
	go vet ./...
	$(STATICCHECK) ./...

$(STATICCHECK):
	GOBIN=$(CACHE)/bin go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)

# The Python clients that the integration tests drive.
.PHONY: venv
venv: $(TIDEMARK_VENV)/.ready
$(TIDEMARK_VENV)/.ready: integration/requirements.txt
	python3 -m venv $(TIDEMARK_VENV)
	$(TIDEMARK_VENV)/bin/pip install --quiet --disable-pip-version-check -r integration/requirements.txt
	touch $@

race:
	CGO_ENABLED=1 go test -race -timeout 40m $(RACE_PACKAGES)

RACE_PACKAGES := ./objstore/... ./catalog/... ./maskindex/... ./parquetstore/... ./exec/... ./ingest/... ./cascade/... ./engine/... ./flightsql/...

fuzz:
	@for package in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
	    echo "$$package $$target"; go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$package; \
	  done; done

bench:
	go test -run '^$$' -bench . -benchmem ./...

chaos:
	TIDEMARK_CHAOS_SECONDS=$(CHAOS_SECONDS) TIDEMARK_SEED=$(SEED) go test -count=1 -p 1 -timeout 60m -run TestKills -v ./integration/postgres ./integration/mongodb

tpc: venv
	TIDEMARK_SCALE=$(SCALE) go test -count=1 -timeout 60m ./integration/benchmarks

SEEDS ?= 10000
model:
	TIDEMARK_SEEDS=$(SEEDS) TIDEMARK_SEED=$(SEED) go test -count=1 -timeout 600m -run TestLives ./integration/model

SOAK_SECONDS ?= 600
soak:
	TIDEMARK_SOAK_SECONDS=$(SOAK_SECONDS) TIDEMARK_SEED=$(SEED) go test -count=1 -timeout 600m -v ./integration/soak

differential: venv
	TIDEMARK_QUERIES=$(QUERIES) TIDEMARK_LIVES=$(LIVES) TIDEMARK_SEED=$(SEED) go test -count=1 -timeout 120m ./integration/differential
	TIDEMARK_SLT_PEERS=1 go test -count=1 ./integration/slt

clean:
	rm -rf $(CACHE)
