# The whole of building, running and checking readthru. Go is all it needs; tests also use the clients they find.

export CGO_ENABLED = 0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
TAGS     = urfave_cli_no_docs
LDFLAGS  = -s -w -X github.com/readthru/readthru/internal/releases.stamped=$(VERSION)
TOOL     = go tool -modfile=tools/go.mod
# What golangci-lint does to format, by the same versions of the same tools, which compile in seconds.
FORMATTED = bad=$$($(TOOL) gofumpt -l . && $(TOOL) goimports -local github.com/readthru/readthru -l .) && \
	test -z "$$bad" || { echo "not formatted; make fmt mends it:" $$bad; exit 1; }

.PHONY: build run wasm quick test slow sequences corpora check lint workflows examples fmt bench bench-fleet faults fleet ways mcp-conformance openapi agents agents-latest reads rooms pictures search-corpus search-docs dist size vuln hooks clean

build: wasm ## the binary, in bin/, with the grammars for symbol maps where clang is there
	go build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' -o bin/readthru ./cmd/readthru

run: build ## build and serve with defaults
	bin/readthru serve

wasm: ## the grammars for symbol maps, compiled to WebAssembly where clang is there; nothing is done when they are current
	sh .ci/wasm

# Where programs of tests and their files are, if it has 4 GB to spare: in memory, where they are made and removed sooner.
quick: export TMPDIR := $(or $(TMPDIR),$(shell df -Pm /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000 { print $$6 }'))
# Compilers, linkers and tests, many of which open a store, gain nothing by collecting garbage often. With -trimpath, what
# one clone compiled serves another one. internal/e2e has no short tests; vet reads its code. A third package uses the
# processor while tests of the other two wait for the end of a connection or a process.
quick: export GOGC = 400
quick: ## what every commit must pass: format, vet, and tests without race detector, browsers, clients and servers
	@go vet -trimpath ./... & vet=$$!; ($(FORMATTED)) & format=$$!; packages=$$(go list ./... | grep -v /internal/e2e); \
	go test -trimpath -p 3 -vet=off -short $(LONGEST) $$packages; tests=$$?; \
	wait $$vet || { echo "quick: go vet fails: see above"; exit 1; }; \
	wait $$format || { echo "quick: the format is not right: see above"; exit 1; }; exit $$tests

# Packages of arithmetic, and those whose tests drive programs of their own: the race detector would see nothing there, or
# takes minutes for processes that do what other packages' tests do in one (./cmd/readthru/..., which make slow has under it).
# Of ./internal/symbols it slows down the compiler of grammars tenfold, and sees the goroutines in tests of ./fetch.
PURE = . ./agents ./api/server/memory ./cmd/readthru/... ./convert/... ./internal/botauth ./internal/clip \
	./internal/e2e/... ./internal/eventually ./internal/httpfield ./internal/markdown ./internal/needs/... \
	./internal/packaging ./internal/payment ./internal/preference ./internal/processor ./internal/recipe \
	./internal/releases ./internal/service ./internal/strictyaml ./internal/summary ./internal/symbols \
	./internal/unknown ./internal/webtest ./knowledge/analysis ./knowledge/index/query ./knowledge/index/rank \
	./knowledge/index/segment ./knowledge/outline ./knowledge/vector ./page ./proxy/form ./proxy/preset \
	./proxy/strict
# Packages under the race detector whose tests wait the longest: go test begins with what is named first, and at the end
# nothing waits for one of them alone.
LONGEST = ./render ./internal/fleet ./knowledge ./fetch ./store ./proxy ./api/server ./ui ./knowledge/index ./cache
# Tests that are brief under the race detector (needs.Brief, needs.Long), and their packages: they run in full without.
FULL    = NoDamageStops CompactLeavesNothing KillLosesNothing AtAnyWriteOfAJob KilledProcessLoses RandomSequences \
	DeathBeforeAnyWrite EveryDeathLeaves DoesNotFitLeavesNothing LargeDocumentIsOneChange \
	NeverServesWhatTheModel NoReaderGetsAnOlder OneReaderAnswersAnother WhoLosesItsPlace RequestsOfTheCorpus \
	ResponsesOfTheCorpus HeadsAreAnswered GivenAgainAreThose TakeAShareOfACrawl LeaveFewFiles \
	IsForTheDashboardAlone SignsInByAPassword ChoosesAPassword
FULL_IN = ./store ./knowledge ./knowledge/index ./cache ./proxy ./crawl ./api/server ./internal/journal ./internal/users
TESTED  = -count=1 -timeout 30m -vet=off # which "make quick" and "make lint" do
# A process under the race detector sleeps a second at its end unless it is told not to.
test: export GORACE = atexit_sleep_ms=20
test: export READTHRU_PROGRAM = $(CURDIR)/bin/tested
test: ## all tests, with the race detector where goroutines meet
	@go build -o bin/suite ./internal/needs/suite && bin/suite -missing
	@for part in clients npm s3 wasm; do sh .ci/$$part || exit 1; done
	go build -o $(READTHRU_PROGRAM) ./cmd/readthru # once for the tests of all packages, and of what these compile, too
	exec bin/suite \
		-- -p 3 -race $(TESTED) $(LONGEST) $$(go list ./... | grep -vxF "$$(go list $(PURE) $(LONGEST))") \
		-- $(TESTED) -run "$$(echo $(FULL) | tr " " "|")" $(FULL_IN) \
		-- $(TESTED) ./internal/e2e $(PURE) \
		-- -C bench $(TESTED) -short ./...
	if [ -n "$$CI" ]; then $(MAKE) --no-print-directory openapi; fi # which fetches its rules

slow: ## series that take long: faults, how deep requests run, hostile pages in full size, the model's own vocabulary, other systems, and each answer decided anew
	@for part in clients npm s3 wasm; do sh .ci/$$part || exit 1; done
	go test -C bench -count=1 -timeout 1h ./...
	READTHRU_FULL_SIZE=1 go test -count=1 -run 'Hostile|LargePage|NoReaderGetsAnOlder|ReaderAnswersAnother|NobodyGetsWhat|LeaveRoomInTheLimits|BrowserPaints|RandomPages|SheetsThatScripts' ./convert ./convert/pdf ./cache ./internal/symbols ./internal/e2e
	go test -count=1 -tags tiktoken -run Estimate ./convert # against the vocabulary itself, which the program does not carry
	for os in windows darwin; do GOOS=$$os go build -o /dev/null ./cmd/readthru || exit 1; done # it builds for other systems
	READTHRU_ROUNDS=1 go test -count=1 -timeout 30m -run WhatAFleetPromises ./internal/e2e
	READTHRU_POISON_FOR=5m go test -count=1 -timeout 30m -run RandomPoison ./internal/fleet
	CGO_ENABLED=1 go test -race -count=1 -timeout 30m ./cmd/readthru/... ./internal/symbols
	READTHRU_RACE_IN_FULL=1 CGO_ENABLED=1 \
		go test -race -count=1 -timeout 1h -run "$$(echo $(FULL) | tr " " "|")" $(FULL_IN)
	READTHRU_CACHE_MEMORY=0 go test -count=1 ./proxy ./internal/recording ./cmd/readthru/... ./internal/e2e # packages below the proxy know nothing of answers that are given again

sequences: ## random sequences of what may happen to pages, bases and the index, and of how pages are read, and deaths at each write of a job, compared with what must be true: FOR=1h, FROM=first seed
	READTHRU_SEQUENCES_FOR="$(or $(FOR),1h)" READTHRU_SEQUENCES_FROM="$(or $(FROM),1)" \
		go test -count=1 -v -timeout 24h -run 'RandomSequences|AnyWriteOfAJob' ./knowledge ./api/server ./internal/e2e

corpora: ## the tests that hold of our own small corpora, over larger ones: PAGES=dir, SECURITY=dir, MARKDOWN=dir, TREES=dir of sources, JUDGED=dir, PDFS=dir
	@run() { echo "corpora: $$3 over $$2"; env "$$1=$$2" go test -count=1 -run "$$3" $$4 || exit 1; }; \
	try() { if [ -d "$$2" ]; then run "$$@"; else echo "corpora: $$3 skipped: no folder $$5=$$2"; fi; }; \
	try READTHRU_CORPUS "$(PAGES)" RarelyHaveASecret ./convert PAGES && \
	try READTHRU_CORPUS "$(PAGES)" 'RarelyFireOnContent|CorpusRoundTrip|TrainModel|VisibleTextOfTheCorpus|AFleetReadsACorpus|WhoSaidWhat' './convert ./convert/judge ./internal/e2e ./internal/recipe' PAGES && \
	try READTHRU_CORPUS "$(PAGES)" OneRequest ./fetch PAGES && \
	try READTHRU_CORPUS_SECURITY "$(SECURITY)" 'InjectionVectors|HostileCorpusPages|NoAddressOfTheCorpus|RequestsOfTheCorpus|ResponsesOfTheCorpus' './convert ./fetch ./proxy' SECURITY && \
	try READTHRU_CORPUS_MARKDOWN "$(MARKDOWN)" HonestPages ./convert MARKDOWN && \
	try READTHRU_SYMBOLS_CORPUS "$(TREES)" MatchThoseOfCtags ./internal/symbols TREES && \
	try READTHRU_CORPUS_IR "$(JUDGED)" RankingReaches ./knowledge/index JUDGED && \
	try READTHRU_CORPUS_PDF "$(PDFS)" PDFReadsInOrder ./convert PDFS

lint: ## format, vet and lint
	$(TOOL) golangci-lint fmt --diff
	go vet ./...
	for dir in bench bench/search; do go -C $$dir vet ./... || exit 1; done # modules of their own: what they need of the root's modules is in their go.sum, too
	go -C bench/search test ./... # which builds it with all that it is measured beside
	$(TOOL) golangci-lint run
	cd bench && go tool -modfile=../tools/go.mod golangci-lint run
	$(MAKE) --no-print-directory workflows examples
	@dead=$$($(TOOL) deadcode -test ./... | grep -v -e 'webtest/' -e 'internal/fleet/fleettest/' -e 'func: Example'); \
	test -z "$$dead" || { echo "$$dead"; exit 1; } # measurements in bench use the packages of tests, too; an example without output is only compiled

workflows: ## what GitHub runs of .github/workflows, by actionlint
	go tool -modfile=tools/ci.mod actionlint -shellcheck= -pyflakes=

examples: ## contrib's files for Compose and Kubernetes, as their programs read them
	go run -C contrib/check . ../compose ../kubernetes

check: lint test ## what a change must pass before it is published

fmt: ## format in place
	$(TOOL) golangci-lint fmt

bench: ## Go benchmarks of every package; docs/benchmarks.md says how figures are compared
	go test -run '^$$' -bench . -benchmem ./...

bench-fleet: build ## what a fleet costs its database, its nodes and origins; FLEET="-nodes 100,1000 nodes" says what and how much
	go run -C bench ./fleet $(FLEET)

ways: ## a report: how many own functions a hit, a page, a search, a hook and a crawl run, and how deep their stacks are; V=1 lists them
	go run -C bench ./ways $(if $(V),-v)

faults: build ## what goes wrong around a daemon, for real: power cuts, kills, errors, an hour of load; FOR=20m, FAULTS="kill soak"
	go run -C bench ./faults -readthru ../bin/readthru $(if $(FAULTS),$(FAULTS),powercut kill goaway streams storm rotate events memory group clock)
	$(if $(FAULTS),,go run -C bench ./faults -readthru ../bin/readthru -for $(or $(FOR),1h) soak)

fleet: ## what breaks around three nodes of a fleet, ROUNDS=20 times each, engines that are away for AWAY=3s; TROUBLE="PostgreSQL" runs those alone
	sh .ci/clients
	sh .ci/s3
	READTHRU_ROUNDS="$(or $(ROUNDS),20)" READTHRU_AWAY="$(or $(AWAY),3s)" READTHRU_TROUBLE="$(TROUBLE)" \
		go test -count=1 -v -timeout 3h -run WhatAFleetPromises ./internal/e2e

mcp-conformance: build ## the protocol's own conformance suite, which npm fetches, against the daemon's /mcp
	sh mcp/testdata/conformance "$(CURDIR)/bin/readthru"

openapi: build ## Redocly's recommended rules, which npm fetches, against the daemon's /openapi.json
	sh api/server/testdata/openapi "$(CURDIR)/bin/readthru"

agents: ## the agents themselves, and frameworks of agents, from npm, led by a scripted model through readthru
	PATH="$$(sh .ci/node)" && READTHRU_AGENTS="$$(sh .ci/agents)" && READTHRU_FRAMEWORKS="$$(sh .ci/modules internal/e2e/agents/frameworks)" && \
	export PATH READTHRU_AGENTS READTHRU_FRAMEWORKS && go test -count=1 ./internal/e2e/agents

agents-latest: ## the same with their newest versions, which the list of versions then names
	sh .ci/agents latest && $(MAKE) --no-print-directory agents

model: ## the model that chooses content, from a corpus folder, to the same bytes each time on amd64: CORPUS=dir
	@test -n "$(CORPUS)" -a -d "$(CORPUS)" || { echo "model: skipped: no folder CORPUS=$(CORPUS)"; exit 0; }; \
	READTHRU_CORPUS="$(abspath $(CORPUS))" READTHRU_MODEL="$(CURDIR)/convert/judge/content.model.gz" \
		go test -count=1 -run TestTrainModel ./convert/judge

reads: ## what models read of a hundred pages (or PAGES=n), with readthru, without it, and with others' fetch servers: CORPUS=dir
	@test -n "$(CORPUS)" -a -d "$(CORPUS)" || { echo "reads: skipped: no folder CORPUS=$(CORPUS)"; exit 0; }; \
	PATH="$$(sh .ci/node)" && READTHRU_AGENTS="$$(sh .ci/agents)" && READTHRU_SERVERS="$$(sh .ci/modules internal/e2e/agents/servers)" && \
	export PATH READTHRU_AGENTS READTHRU_SERVERS && \
	READTHRU_CORPUS="$(abspath $(CORPUS))" READTHRU_PAGES="$(PAGES)" go test -count=1 -v -timeout 3h -run TestWhatModelsRead ./internal/e2e/agents

rooms: ## every kind of page of the dashboard of a daemon that runs, in Chromium: DASHBOARD=link of "readthru open --print", PICTURES=dir
	@test -n "$(DASHBOARD)" || { echo "rooms: skipped: no DASHBOARD=$(DASHBOARD)"; exit 0; }; \
	READTHRU_DASHBOARD="$(DASHBOARD)" READTHRU_PICTURES="$(PICTURES)" go test -count=1 -v -timeout 1h -run TestRoomsOfADaemon ./ui

pictures: ## the README's pictures of the dashboard, of agents that read a small web of ours
	READTHRU_PICTURES="$(CURDIR)/docs/pictures" go test -count=1 -run TestPicturesOfTheReadme ./internal/e2e

search-corpus: ## how well search finds, on judged collections: CORPUS=dir with COLLECTION/{corpus.jsonl,queries.jsonl,qrels.tsv}
	@test -n "$(CORPUS)" -a -d "$(CORPUS)" || { echo "search-corpus: skipped: no folder CORPUS=$(CORPUS)"; exit 0; }; \
	$(MAKE) --no-print-directory build && go run -C bench ./trec -corpus "$(abspath $(CORPUS))" -readthru ../bin/readthru $(if $(RUNS),-runs "$(RUNS)")

search-docs: ## how well search and its peers find what agents ask of documentation: DOCS=dir, /usr/share/doc of Debian 12 with the -doc packages that bench/search/main.go names
	@test -n "$(DOCS)" -a -d "$(DOCS)" || { echo "search-docs: skipped: no folder DOCS=$(DOCS)"; exit 0; }; \
	cd bench/search && for set in agent misspelt concept; do go run . -docs "$(DOCS)" -queries $$set || exit 1; done

dist: wasm ## a release in dist/: archives, packages, an image, manifests, bill of materials and checksums; ONLY=deb makes the debs
	go run ./internal/packaging $(if $(ONLY),-only $(ONLY))

size: wasm ## fails when the stripped binary passes 64 MB
	@go build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' -o bin/readthru ./cmd/readthru
	@bytes=$$(wc -c < bin/readthru); echo "$$bytes bytes"; [ $$bytes -le 64000000 ]

vuln: ## known vulnerabilities in what is linked; VULNDB=file:///dir without a network
	$(TOOL) govulncheck $(if $(VULNDB),-db $(VULNDB)) ./...

hooks: ## run "make quick" before every commit of this clone
	git config core.hooksPath .githooks

clean:
	rm -rf bin dist
