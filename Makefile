# Everything is done by way of this file; `make` lists it. Nothing has to be installed but Node 18 or newer (with npm) and make.

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# The Node that the project brings along, whatever the machine's own is.
NODE := node_modules/.bin/node
# Named after what it was made from, so that an install is done again when that changes and never otherwise.
INSTALLED := node_modules/.installed-$(shell cat package-lock.json patches/* | cksum | tr ' ' '-')

.PHONY: help install run dev test test-long screenshots check generate lint mock contract migrate bench plans drill publish clean

help: ## List what can be done
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

$(INSTALLED):
	@echo 'installing packages (npm ci, about a minute)'
	@npm ci --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

install: $(INSTALLED) ## Install packages, if they are not there

run: $(INSTALLED) ## Start everything on an embedded PostgreSQL; PORT=5000 moves it, DATABASE_URL uses another server
	@exec $(NODE) run/start.ts

dev: $(INSTALLED) ## The same, started again when a source file changes
	@exec $(NODE) run/start.ts --watch

test: $(INSTALLED) ## Checks, tests and contract; the last line is the total
	@exec $(NODE) run/test.ts

test-long: $(INSTALLED) ## The tests that can go on for longer, in their long form: models, fuzz, races (an hour and more)
	@exec $(NODE) run/testLong.ts

screenshots: $(INSTALLED) ## Take the pictures of the hosted checkout anew, in a real browser (a few minutes)
	@exec $(NODE) run/screenshots.ts

check: $(INSTALLED) ## Types, lint, import boundaries, fresh generated files, nothing published broken
	@exec $(NODE) run/check.ts

generate: $(INSTALLED) ## Write what is made of other files: generated/, what receivers install in sdk/, parts of README.md and docs/
	@$(NODE) spec/generate.ts
	@$(NODE) run/writeSchemas.ts
	@$(NODE) run/writeReadme.ts
	@$(NODE) run/writeSdk.ts
	@$(NODE) run/writeDocs.ts

lint: $(INSTALLED) ## House lint of the documents, lint of the code
	@$(NODE) node_modules/@redocly/cli/bin/cli.js lint payments storefront identity --format stylish
	@$(NODE) node_modules/eslint/bin/eslint.js --max-warnings 0 .

mock: $(INSTALLED) ## Serve the examples of the payments document; MOCK_PORT=4900, MOCK=storefront or identity for the others
	@echo 'answering with the examples of generated/$(MOCK).json on http://localhost:$(MOCK_PORT); Ctrl-C ends it'
	@exec $(NODE) node_modules/@stoplight/prism-cli/dist/index.js mock --host 127.0.0.1 --port $(MOCK_PORT) generated/$(MOCK).json
MOCK ?= payments
MOCK_PORT ?= 4900

contract: $(INSTALLED) ## The documents against the running services: Dredd, Prism, a generated client
	@exec $(NODE) contract-tests/contract.ts

migrate: $(INSTALLED) ## Bring the databases up to date: those of DATABASE_URL and IDENTITY_DATABASE_URL, else the development run's
	@exec $(NODE) run/migrate.ts

bench: $(INSTALLED) ## Measure speed on this machine; NAME=lists one part of it, NAME=soak MINUTES=30 the soak
	@exec $(NODE) bench/bench.ts

plans: $(INSTALLED) ## Keep the plans of lists as they now are in db/plans, when a query or an index was changed
	@exec $(NODE) node_modules/vitest/vitest.mjs run bench/lists/plans.test.ts -u

drill: $(INSTALLED) ## Kill and starve what runs, under load, and check that nothing is lost; `make drill webhooks` runs one, NAME=webhooks too; SEED=n repeats
	@exec $(NODE) bench/drill.ts $(DRILLS)

# What stands behind `make drill` names drills, not targets.
ifeq (drill,$(firstword $(MAKECMDGOALS)))
DRILLS := $(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS))
.PHONY: $(DRILLS)
$(DRILLS):
	@:
endif

publish: $(INSTALLED) ## Make the working documents the published ones, unless they break what was published
	@exec $(NODE) spec/publish.ts

clean: ## Forget the data of the development run
	@if [ -f .dev/run.pid ] && kill -0 "$$(cat .dev/run.pid)" 2>/dev/null; then echo 'the development run is on: stop it first'; exit 1; fi
	rm -rf .dev coverage "/var/lib/bayar/data-$$(printf %s "$$(pwd -P)/.dev/postgres" | sha256sum | cut -c1-16)"
