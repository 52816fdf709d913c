# One word per habit of this project. Every target does its own set-up; scripts/ holds how: user, checks, release, and lib for what these share.
.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-long test-assert bench lint server studio stop pictures psql scale install uninstall package packages clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Watch a leave request go through two approvals, on a private server that ends with it
	@scripts/user/demo

test: ## Run the tests on a private server, before a commit (T="name ..." runs all those whose name contains one of the words)
	@tests/run

test-all: ## Run all tests: these, lint, the long ones, the gateway, packages, PostgreSQL 18
	@tests/run --all

test-long: ## Run the tests of one server and fuzzing, then repeat the random tests for WORKFLOW_TEST_SECONDS (default 600)
	@tests/run --long

test-assert: ## Run the server tests on PostgreSQL 15 and 18 built with assertions (minutes more, once, to build them)
	@tests/run-assert

bench: ## Measure against hand-written status tables, on a private server (T=name: one part)
	@scripts/user/bench $(T)

lint: ## Check format, clippy, licences and the safety of the install script
	@scripts/checks/lint

server: ## Start (or reuse) a private server with the extension, print how to connect (FRESH=1: empty it)
	@scripts/user/server

studio: ## Start (or reuse) Elsa Studio and the inbox on a private server with the examples; print a key and the address
	@scripts/user/studio

stop: ## Stop these servers; their data stays
	@scripts/user/stop

psql: ## Open psql on that server
	@scripts/user/psql

scale: ## Several nodes on this machine, a step at a time (T="start"; without T: the list of steps)
	@scripts/user/scale $(T)

install: ## Install into the PostgreSQL of PG_CONFIG (default: the pg_config on the PATH), or below DESTDIR
	@scripts/user/install

pictures: ## Make the pictures in docs/pictures again
	@scripts/release/pictures

uninstall: ## Remove from there what install put there
	@scripts/user/uninstall

package: ## Leave a Debian package and a tarball for PG_MAJOR (default 15) or PG_CONFIG in target/packages
	@scripts/release/package

packages: ## The same for every PostgreSQL that the tests run on, and one for wf
	@scripts/release/packages

clean: ## Remove private servers with their data, and what was compiled
	@scripts/user/clean
