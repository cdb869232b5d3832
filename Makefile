# Each target loops over all modules of the repository: the root, and those nested in it that keep large dependencies
# out of the root's go.mod.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help
ROOT := $(CURDIR)
MODULES := $(patsubst %/,%,$(dir $(shell find . -name go.mod -not -path '*/testdata/*' | sort)))
# internal/tools holds no code.
TESTED := $(filter-out ./internal/tools,$(MODULES))
LINT := go tool -modfile=$(ROOT)/internal/tools/go.mod golangci-lint
VULN := go tool -modfile=$(ROOT)/internal/tools/go.mod govulncheck
# in runs a command in each of some modules: first in the root, then in those nested in it, two at a time, each of which
# shows its output when it is done.
in = $(if $(filter .,$(1)),echo "== .: $(2)"; $(2);) $(call nested,$(filter-out .,$(1)),$(2))
nested = printf '%s\n' $(1) | xargs -P 2 -I @ bash -c \
	'if out=$$(cd @ && $(2) 2>&1); then ok=0; else ok=1; fi; echo "== @: $(2)"; [ -z "$$out" ] || echo "$$out"; exit $$ok'
# tests runs go test with some flags, in the root with the package first that waits for servers, so that it does not run
# alone in the end.
tests = echo "== .: go test $(1) ./..."; go test $(1) ./runtime/redislimit ./...; $(call nested,$(filter-out .,$(TESTED)),go test $(1) ./...)

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 13

.PHONY: demo
demo: ## a limited HTTP service, called by two clients; REDIS_URL=redis://host:port limits it through Redis
	@go generate ./example/quickstart
	go run ./example/quickstart

.PHONY: distributed
distributed: redis ## three processes and a Redis Cluster that loses a primary: what was admitted, and what the limits allow
	@go generate ./example/distributed
	go run ./example/distributed

.PHONY: dashboard
dashboard: ## the page about the limits of a shop under load, until you interrupt it; it is on this machine only
	@cd runtime/dashboard && go build -o $(ROOT)/bin/dashboard ./example
	exec $(ROOT)/bin/dashboard -open # go run would make a failure of an interrupt

.PHONY: test
test: redis chromium ## all tests, against a real Redis server and in a real browser too
	@$(call tests)

.PHONY: race
race: redis ## the tests of what runs at once under the race detector, but for what is long, or in fake time and about Redis; vet is for lint
	@echo '== .: go test -race -short'
	go test -race -short -vet=off ./runtime/redislimit ./runtime/... ./internal/parse ./internal/generate ./example/... ./generated_test/waits
	$(call nested,./runtime/contrib/otellimit ./runtime/contrib/promlimit ./runtime/dashboard,go test -race -short -vet=off ./...)

.PHONY: soak
soak: redis ## a million random calls to the stores, in lock step with a model (some four minutes); SOAK=10 for ten millions
	@RAPID_CHECKS=$$(( $(or $(SOAK),1) * 1000 )) go test -count=1 -timeout=24h -v -run='Conformance|ClockSetBack|Cluster/conformance' \
		./runtime/memlimit ./runtime/redislimit | grep -E 'random calls|^(ok|FAIL|---|panic)'

.PHONY: faults
faults: redis ## real Redis servers that are away for a minute, in each of many ways, and floods (some 15 minutes); OUTAGE=10s is shorter
	@RATELIMIT_OUTAGE=$(or $(OUTAGE),1m) RATELIMIT_FLOOD=10000000 go test -count=1 -timeout=2h -v -run='ServerIsAway|Flood' \
		./runtime/redislimit ./runtime/httplimit | grep -E '_test.go:|^(ok|FAIL| *---|panic)'

.PHONY: fuzz
fuzz: ## random directives on random interfaces for a minute; FUZZ=10m for ten
	@go test ./generated_test -run='^$$' -fuzz=FuzzInterfaces -fuzztime=$(or $(FUZZ),1m) -fuzzminimizetime=10x

.PHONY: lint
lint: ## golangci-lint with .golangci.yml
	@$(call in,$(TESTED),$(LINT) run --allow-parallel-runners ./...)

.PHONY: vuln
vuln: ## what is called and known to be vulnerable; asks https://vuln.go.dev
	@$(call in,$(TESTED),$(VULN) -test ./...)

.PHONY: generate
generate: bin/ratelimitgen ## write every generated file of the repository
	@$(call in,$(TESTED),$(ROOT)/bin/ratelimitgen ./...)
	go test ./internal/picture -update

.PHONY: requires
requires: ## have the nested modules require the root at VERSION, which is about to be tagged
	@[[ '$(VERSION)' == v*.*.* ]] || { echo 'requires: want VERSION=v1.2.3'; exit 2; }
	@root=$$(go list -m)
	for module in $(filter-out .,$(MODULES)); do
		! grep -q "$$root v" $$module/go.mod || go mod edit -require="$$root@$(VERSION)" $$module/go.mod
	done

.PHONY: check
check: bin/ratelimitgen ## fail if a generated file, a go.mod or the formatting is not as it should be
	@$(call in,$(TESTED),$(ROOT)/bin/ratelimitgen check ./...)
	$(call in,$(MODULES),go mod tidy -diff)
	$(call in,$(TESTED),$(LINT) fmt --diff)

.PHONY: bench
bench: redis ## the stores and decorators beside other limiters (some six minutes); prints the goals, writes docs/performance.md; FULL=1 for all rows
	@cd internal/bench && go run . -write ../../docs/performance.md $(if $(FULL),-full -rounds 600)

.PHONY: sweep
sweep: ## decorators of every exported interface of the standard library and of large modules; writes docs/sweep.md
	@go run ./internal/sweep

.PHONY: bench-gen
bench-gen: ## the generator beside moq, mockery, counterfeiter and mockgen, warm and cold
	@go run ./internal/benchgen

.PHONY: bin/ratelimitgen
bin/ratelimitgen:
	@go build -o $@ ./cmd/ratelimitgen

.PHONY: redis
redis:
	@command -v "$${RATELIMIT_REDIS_SERVER:-redis-server}" >/dev/null && exit 0
	if ! command -v apt-get >/dev/null || [ "$$(id -u)" != 0 ]; then
		echo 'The tests start Redis servers of their own: install redis-server (Debian, Ubuntu: apt-get install redis-server;' >&2
		echo 'macOS: brew install redis). Without it, go test ./... tests what it can; with -v it says what it skipped.' >&2
		exit 1
	fi
	echo 'Installing redis-server'
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends redis-server >/dev/null

.PHONY: chromium
chromium:
	@for name in chromium chromium-browser google-chrome; do command -v "$$name" >/dev/null && exit 0; done
	if ! command -v apt-get >/dev/null || [ "$$(id -u)" != 0 ]; then
		echo 'No chromium or google-chrome on the PATH (Debian: apt-get install chromium): the tests of the dashboard that need a browser are skipped.' >&2
		exit 0
	fi
	echo 'Installing chromium'
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
