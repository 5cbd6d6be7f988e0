// Package readthru_test holds what must be true of the repository as a whole.
package readthru_test

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// policy is the picture of who may import whom. A line names packages that do not know each other, and after the arrow
// all that they may import of this module; a package may have several lines. The rooms of convert are named in its own
// lines alone: no other package imports them. What is below internal is named without it. It is a statement of design:
// do not change it to fix a build.
const policy = `
	fault, clip, lazy, wholefile, httpfield, convert/pdf, symbols, recording, pace, guess →
	page, releases, users, fleet, fleet/bucket, knowledge, agents, crawl, api/firecrawl, fetch/gate → lazy
	cmd/readthru, cmd/readthru/read, cmd/readthru/watch → lazy
	needs, eventually, processor →
	webtest, render/rendertest → eventually
	fault/faulttest       → fault, eventually
	page, symbols, recording, journal, render, agents, summary, convert/hidden, convert, recipe, fetch/github → clip
	fleet, knowledge, fetch, proxy, api/firecrawl, api, api/server, mcp, ui → clip
	symbols, markdown, summary, convert, convert/hidden, convert/xmlread, fetch/github → lazy
	certs, store, service, botauth, journal → wholefile
	users                 → guess
	openid, unknown       →
	page, users, store/wire, store, knowledge, fleet → unknown
	users, symbols, store, cache, knowledge, knowledge/vector, fleet, fetch/github, render → fault
	knowledge/breath      → fault
	fetch, crawl, api/firecrawl, proxy, api, api/server, mcp → fault
	fetch/github/githubtest → needs
	symbols/pack          →
	needs/suite           → needs
	packaging             → releases
	markdown, strictyaml  →
	convert, summary, agents, knowledge → markdown
	fetch/github          → markdown
	llm                   → page, httpfield
	fetch, crawl          → markdown
	certs                 →
	preference            → page
	payment               → page, clip, httpfield
	botauth               → clip
	transport             → page, httpfield, botauth
	transport/transporttest → transport, wholefile
	fetch                 → preference, payment, transport
	fetch/media           → page
	fetch/robots          → page, preference, clip
	fetch/gate            → page, transport
	fetch/cause           → fetch/media, transport
	fetch/twins           → convert, fetch/media, httpfield, markdown, page
	fetch/sitecheck       → fetch/twins, fetch/media, fetch/robots, clip
	fetch/markdownnew     → convert, fetch/media, httpfield, page, transport
	fetch                 → fetch/media, fetch/robots, fetch/gate, fetch/cause, fetch/markdownnew
	fetch/prompt          → convert, fetch/media, llm, markdown
	fetch/turns           →
	fetch                 → fetch/twins, fetch/prompt, fetch/turns
	hostrule              → page, store, cache, recipe
	fetch, proxy, api/server, cmd/readthru/settings, cmd/readthru/wiring, cmd/readthru/read → hostrule
	fetch/sitecheck, crawl → transport
	cmd/readthru/settings, cmd/readthru/wiring, cmd/readthru/read, cmd/readthru/setup → transport
	api                   → botauth
	render                → page, httpfield
	convert/chars, convert/guard →
	convert/charset       → lazy, convert/chars
	convert/dom           → convert/chars, convert/guard
	convert/formula, convert/footnote → convert/chars, convert/dom
	convert/links         → page, convert/chars, convert/dom
	convert/xmlread       → convert/guard, convert/dom
	convert/omml          → convert/guard, convert/xmlread
	convert/archive       → convert/guard, convert/chars, convert/xmlread
	convert/docx, convert/xlsx, convert/pptx, convert/opendocument → convert/archive, convert/guard, convert/chars
	convert/docx, convert/xlsx, convert/pptx, convert/opendocument → convert/xmlread
	convert/docx, convert/pptx → convert/omml
	convert/epub          → convert/archive, convert/guard, convert/dom, convert/xmlread
	convert/mhtml         → convert/guard
	convert/css           → convert/chars, convert/dom
	convert/pdflayout     → convert/pdf, convert/chars, convert/guard
	convert/hidden        → page, markdown, convert/chars, convert/dom, convert/guard, convert/css
	convert               → page, convert/pdf, convert/chars, convert/guard, convert/dom, convert/formula
	convert               → convert/footnote
	convert               → convert/charset, convert/xmlread, convert/css, convert/hidden, convert/pdflayout
	convert               → convert/archive, convert/docx, convert/xlsx, convert/pptx, convert/opendocument
	convert               → convert/epub
	convert/normalise     → convert/chars, convert/dom, convert/footnote, convert/formula, convert/guard
	convert/normalise     → convert/hidden
	convert/normalise     → lazy, convert/links, convert/css
	convert/mdwrite       → convert/chars, convert/dom, convert/guard
	convert/head          → page, lazy, convert/chars, convert/dom
	convert/signs         → lazy, convert/chars, convert/dom, convert/guard, convert/hidden
	convert/rules         → page, lazy, convert/chars, convert/dom, convert/guard, convert/head, convert/links
	convert               → convert/mhtml, convert/links, convert/normalise, convert/mdwrite, convert/head
	convert               → convert/signs
	convert/judge         → convert/chars, convert/dom, convert/guard, convert/head, convert/normalise, convert/rules
	convert/judge         → convert/signs, page
	convert/corpustest    →
	convert/formats       → lazy, convert/chars, convert/guard, convert/mdwrite, convert/normalise, convert/pdflayout
	convert               → convert/rules, convert/judge, convert/formats
	recipe                → page, convert, strictyaml
	store/lru             →
	store/wire, store/keys → page
	store/kv              → page, fault, store/lru, store/wire
	store/tally           → page, store/kv, store/keys, store/wire
	store/body            → store/kv, store/keys, store/wire
	store                 → store/body
	store                 → page, users, store/lru, store/wire, store/keys, store/kv, store/tally
	summary               → page, llm
	agents                → page
	cache                 → page, store, httpfield, clip
	knowledge/analysis, knowledge/vector →
	knowledge/outline     → page, markdown, clip, knowledge/analysis
	journal               → page, httpfield
	fetch, crawl, api/firecrawl → journal
	fleet                 → page, store, users, knowledge
	fleet/bucket          →
	fleet                 → fleet/bucket
	fleet/fleettest       → needs, eventually, wholefile
	knowledge/excerpt     → markdown, clip, knowledge/outline
	knowledge/index/segment → store, knowledge/analysis, knowledge/breath
	knowledge/index       → page, store, llm, clip, fault, markdown, knowledge/analysis, knowledge/breath
	knowledge/index/query → clip, knowledge/analysis, knowledge/excerpt, knowledge/outline, knowledge/index/segment
	knowledge/index/rank  → clip, knowledge/analysis, knowledge/index/segment, knowledge/index/query
	knowledge/index       → knowledge/excerpt, knowledge/outline
	knowledge/index       → knowledge/index/segment, knowledge/index/query, knowledge/index/rank
	knowledge/archive     → page, store, knowledge/index
	knowledge/files       → page, markdown, knowledge/outline, knowledge/index, knowledge/archive
	knowledge/pack        → page, knowledge/archive
	knowledge/annotation  → page, store, llm, fault, knowledge/outline, knowledge/statement, knowledge/index
	knowledge/annotation  → knowledge/archive
	knowledge             → knowledge/index/query, knowledge/archive, knowledge/files, knowledge/pack
	knowledge/note        → page, store, clip, knowledge/index, knowledge/statement, knowledge/archive
	knowledge/note        → knowledge/annotation
	knowledge             → knowledge/annotation, knowledge/note
	knowledge             → page, store, llm, knowledge/breath, knowledge/outline
	knowledge/statement   → page, llm, clip, lazy, markdown, knowledge/analysis, knowledge/index, knowledge/outline
	knowledge/meaning     → store, llm, clip, fault, knowledge/excerpt, knowledge/index, knowledge/vector
	knowledge/meaning/embedtest → llm
	knowledge/storetest   → store
	knowledge             → knowledge/index, knowledge/meaning, knowledge/statement
	fetch/github          → page, convert, symbols
	fetch/sitecheck       → fetch, convert, page, httpfield, payment, preference
	api                   → fetch/sitecheck
	fetch                 → recipe, page, httpfield, convert, render, symbols, llm, store, cache, fetch/github
	proxy/repeat          →
	proxy                 → page, httpfield, pace, guess, users, store, cache, fetch, certs, recording, journal
	proxy/strict          → page, clip, httpfield
	proxy/form            → page, httpfield, fetch, proxy/strict
	proxy/preset          → page
	proxy                 → proxy/repeat, proxy/strict, proxy/form, proxy/preset
	crawl                 → page, httpfield, fetch
	api/firecrawl         → page, users, httpfield, store, knowledge, fetch, crawl, summary
	api                   → page, users, journal, recipe, fleet, store, knowledge, knowledge/outline
	api/guard             → api, httpfield, guess, users
	api/server/asker      → api, clip, journal, users, store
	api/server/jobs       → api, fault, store
	api/server/memory     → api, api/server/jobs, page, store, knowledge, crawl, fleet
	api/server/hooks      → api, api/server/memory, agents, fault, fetch, journal, knowledge, page, store, wholefile
	api/server/pages      → api, api/server/asker, convert, fetch, fetch/sitecheck, clip, fault, fleet, journal
	api/server/pages      → markdown, summary, users, knowledge, knowledge/outline, page, store
	api/server            → api/server/machine, api/server/figures, api/server/requests, api/server/people
	api/server            → api/server/sites, api/server/pages
	api/server/sites      → api, api/server/asker, api/server/memory, api/server/pages, fetch, clip, hostrule
	api/server/sites      → journal, recipe, page, store
	api/server/people     → api, api/server/asker, fault, fleet, journal, openid, users, store
	api/server/requests   → api, api/server/asker, journal, knowledge, store
	api/server/figures    → api, api/guard, api/server/people, api/server/sites, fetch, fault, fleet, journal
	api/server/figures    → users, knowledge, page, store
	api/server/machine    → api, fetch, botauth, fleet, store
	api/server            → api/server/asker, api/server/jobs, api/server/memory, api/server/hooks
	api/server            → api, api/guard, api/firecrawl, page, pace, guess, openid, users, journal, fetch, store
	api/server            → knowledge, crawl, fleet, summary
	mcp                   → page, httpfield, users, knowledge, knowledge/outline, api
	ui                    → page, markdown, journal, users, api
	cmd/readthru/terminal → clip, page, store
	cmd/readthru/settings → cmd/readthru/terminal, page, strictyaml, wholefile, users, releases, botauth, certs, llm
	cmd/readthru/settings → fleet, fetch, api, api/firecrawl
	cmd/readthru/daemon   → cmd/readthru/terminal, cmd/readthru/settings, wholefile, releases, service, store, api
	cmd/readthru/agentsetup → cmd/readthru/terminal, cmd/readthru/settings, cmd/readthru/daemon, wholefile, agents
	cmd/readthru/agentsetup → service
	cmd/readthru/wiring   → cmd/readthru/terminal, cmd/readthru/settings, cmd/readthru/daemon, cmd/readthru/agentsetup
	cmd/readthru/wiring   → page, clip, fault, wholefile, releases, users, openid, journal, botauth, certs, llm, summary
	cmd/readthru/wiring   → symbols
	cmd/readthru/wiring   → render, convert, store, cache, knowledge, fleet, fetch, fetch/github, proxy, crawl, api
	cmd/readthru/wiring   → api/server, api/server/figures, api/firecrawl, mcp, ui
	cmd/readthru/command  → cmd/readthru/terminal, cmd/readthru/settings, cmd/readthru/daemon, cmd/readthru/wiring
	cmd/readthru/command  → page, recipe, fetch, api, api/server
	cmd/readthru/watch    → api/server
	cmd/readthru/setup    → api/server/hooks
	cmd/readthru/read, cmd/readthru/remember, cmd/readthru/watch, cmd/readthru/setup, cmd/readthru/operate → page, api
	cmd/readthru/read, cmd/readthru/remember, cmd/readthru/watch → cmd/readthru/terminal, cmd/readthru/settings
	cmd/readthru/setup, cmd/readthru/operate                     → cmd/readthru/terminal, cmd/readthru/settings
	cmd/readthru/read, cmd/readthru/remember, cmd/readthru/watch → cmd/readthru/command
	cmd/readthru/setup, cmd/readthru/operate                     → cmd/readthru/command
	cmd/readthru/read, cmd/readthru/watch, cmd/readthru/setup, cmd/readthru/operate → cmd/readthru/daemon
	cmd/readthru/read, cmd/readthru/setup, cmd/readthru/operate → cmd/readthru/wiring
	cmd/readthru/read, cmd/readthru/remember, cmd/readthru/watch, cmd/readthru/operate → wholefile
	cmd/readthru/read     → releases, recipe, recording, summary, certs, convert, knowledge/outline, fetch, proxy, mcp
	cmd/readthru/remember → convert, knowledge
	cmd/readthru/watch    → users, journal, recipe, store, fleet, fetch/sitecheck
	cmd/readthru/setup    → cmd/readthru/agentsetup, clip, agents, service, releases, botauth, certs, llm, convert
	cmd/readthru/setup    → render
	cmd/readthru/setup    → store, fleet, knowledge, fetch
	cmd/readthru/operate  → users, store, knowledge
	cmd/readthru          → cmd/readthru/terminal, cmd/readthru/settings, cmd/readthru/command, releases, agents, api
	cmd/readthru          → cmd/readthru/read, cmd/readthru/remember, cmd/readthru/watch
	cmd/readthru          → cmd/readthru/setup, cmd/readthru/operate
`

// alone names modules that exactly one package may import, so that they can be replaced there. Those of cmd/readthru
// are for its rooms, too.
var alone = map[string]string{
	"github.com/dgraph-io/badger/":                  "store/kv",
	"github.com/elazarl/goproxy":                    "proxy",
	"github.com/JohannesKaufmann/html-to-markdown/": "convert/mdwrite",
	"github.com/mmcdole/gofeed":                     "convert",
	"github.com/prometheus/client_golang/":          "api/server/figures",
	"github.com/urfave/cli/":                        "cmd/readthru",
	"github.com/goccy/go-yaml":                      "strictyaml",
	"github.com/smallstep/truststore":               "certs",
	"github.com/chromedp/":                          "render",
	"github.com/coder/websocket":                    "render",
	"code.dny.dev/ssrf":                             "transport",
	"github.com/sony/gobreaker/":                    "fetch/markdownnew",
	"github.com/tetratelabs/wazero":                 "symbols",
	"github.com/modelcontextprotocol/go-sdk":        "mcp",
	"github.com/yuin/goldmark":                      "ui",
	"github.com/tailscale/hujson":                   "agents",
	"github.com/pelletier/go-toml/":                 "agents",
	"github.com/pressly/goose/":                     "fleet",
	"github.com/aws/":                               "fleet/bucket",
}

func TestPackagesImportOnlyWhatThePictureAllows(t *testing.T) {
	allowed := parsePolicy(t)
	for name, imports := range imports(t) {
		may, known := allowed[name]
		if !known {
			t.Errorf("package %s has no line in the picture", name)
			continue
		}
		for _, path := range imports {
			if own, ours := ownName(path); ours && !slices.Contains(may, own) {
				t.Errorf("%s imports %s, which the picture does not allow", name, own)
			}
			for module, owner := range alone {
				ours := name == owner || owner == "cmd/readthru" && strings.HasPrefix(name, owner+"/")
				if strings.HasPrefix(path, module) && !ours {
					t.Errorf("%s imports %s, which only %s may", name, path, owner)
				}
			}
		}
	}
}

func TestThePictureHasNoCycle(t *testing.T) {
	allowed := parsePolicy(t)
	sound := map[string]bool{} // no cycle goes through it
	var visit func(name string, path []string)
	visit = func(name string, path []string) {
		if sound[name] {
			return
		}
		if slices.Contains(path, name) {
			t.Fatalf("cycle: %s", strings.Join(append(path, name), " → "))
		}
		for _, next := range allowed[name] {
			visit(next, append(path, name))
		}
		sound[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		visit(name, nil)
	}
}

func parsePolicy(t *testing.T) map[string][]string {
	t.Helper()
	allowed := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(policy)) {
		left, right, ok := strings.Cut(line, "→")
		if !ok {
			t.Fatalf("line without an arrow: %q", line)
		}
		for _, name := range words(left) {
			allowed[name] = append(allowed[name], words(right)...)
		}
	}
	return allowed
}

func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
}

// ownName returns the name that the picture has for a package of this module.
func ownName(path string) (name string, ours bool) {
	name, ours = strings.CutPrefix(path, "github.com/readthru/readthru/")
	return strings.Replace(name, "internal/", "", 1), ours
}

// imports returns what the module's packages import outside tests, by the package's name in the picture.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f",
		"{{if .GoFiles}}{{.ImportPath}}{{range .Imports}} {{.}}{{end}}{{end}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	found := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 0 {
			name, _ := ownName(fields[0])
			found[name] = fields[1:]
		}
	}
	return found
}
