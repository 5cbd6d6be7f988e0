package mcp_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/mcp"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server of the protocol over real operations, with an origin that stands for every host.
type world struct {
	server *mcp.Server
	api    *server.Server
	know   *knowledge.Knowledge
	users  *users.Directory
	store  *store.Store
	told   *journal.Journal
	addr   string        // of an admin port that has the server at /mcp
	asked  atomic.Int64  // requests for pages that reached the origin
	edited atomic.Bool   // the guide has changed
	came   chan struct{} // gets an element when a request for /slow begins
	end    chan struct{} // takes an element to end one
	left   chan struct{} // gets an element when a fetch ends because nobody wants it any more
}

const userAgent = "readthru/test"

// newWorld opens everything; change may adjust the options of the server.
func newWorld(tb testing.TB, change func(*mcp.Options)) *world {
	tb.Helper()
	w := &world{came: make(chan struct{}, 10), end: make(chan struct{}, 10), left: make(chan struct{}, 10)}
	w.told = journal.New(journal.Options{})
	origin := httptest.NewUnstartedServer(http.HandlerFunc(w.answer))
	origin.Config.ErrorLog = log.New(io.Discard, "", 0)
	origin.StartTLS()
	tb.Cleanup(origin.Close)
	caFile := filepath.Join(tb.TempDir(), "origin.pem")
	if err := os.WriteFile(caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: origin.Certificate().Raw}),
		0o600); err != nil {
		tb.Fatal(err)
	}
	origins, err := transport.New(transport.Options{Resolve: []string{"*:443=" +
		origin.Listener.Addr().String()}, CAFile: caFile, UserAgent: userAgent})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(origins.CloseIdleConnections)
	db, err := store.Open(store.Options{Dir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	c := cache.New(cache.Options{Page: page.IsPage, Markdown: page.IsMarkdown, Store: db, Next: origins})
	f := fetch.New(fetch.Options{
		Client: c, Direct: origins, Store: db, FrontMatter: true, UserAgent: userAgent, Journal: w.told,
		BlockedDomains: []string{"medium.com"}, MarkdownNew: fetch.MarkdownNew{Mode: "off"},
	})
	if w.know, err = knowledge.Open(knowledge.Options{Store: db, Anchors: f.Anchors}); err != nil {
		tb.Fatal(err)
	}
	o := mcp.Options{
		Tokens: convert.Tokens[string], Version: "test", UserAgent: userAgent, Robots: true, Write: true,
		Session: "s1",
	}
	o.Client = func(context.Context) (*api.Client, error) {
		return api.NewLocalClient(http.HandlerFunc(w.watched), "token", userAgent, slog.New(slog.DiscardHandler)), nil
	}
	if change != nil {
		change(&o)
	}
	w.users, w.store = users.NewDirectory(nil), db
	w.server = mcp.New(o)
	w.api = server.New(server.Options{
		Fetch: f, Store: db, Knowledge: w.know, Dir: tb.TempDir(), Version: "test", Instance: "instance",
		MarkdownNewMode: "off", Token: "token", TrustUser: true, Users: w.users, Journal: w.told,
		MCP: func(*server.Server) http.Handler { return w.server },
	})
	front := httptest.NewServer(w.api)
	w.addr = front.Listener.Addr().String()
	tb.Cleanup(func() {
		front.Close()
		w.api.Stop()
		if err := errors.Join(w.know.Close(), f.Close(), c.Close(), db.Close()); err != nil {
			tb.Error(err)
		}
	})
	return w
}

// watched answers operations, and reports fetches that were given up.
func (w *world) watched(rw http.ResponseWriter, r *http.Request) {
	w.api.ServeHTTP(rw, r)
	if r.URL.Path == "/api/v1/fetch" && r.Context().Err() != nil {
		w.left <- struct{}{}
	}
}

const guide = `<!doctype html><html lang="en"><head><title>Guide to caches</title></head><body><main><h1>Guide</h1>
<p>A cache keeps what an origin said, and says it again for as long as the origin allowed. Whoever
asks a second time need not wait.</p>
<h2>Install</h2><p>Put the program where your shell finds it, then run it once to see that it starts as it should.</p>
<h2 id="the-quinces">Quinces</h2><p>%s</p>
</main></body></html>`

func (w *world) answer(rw http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		w.robots(rw, r)
		return
	}
	w.asked.Add(1)
	rw.Header().Set("Cache-Control", "max-age=600")
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	switch r.URL.Path {
	case "/guide":
		said := "The quince is hard and yellow, and hardly anybody eats it raw."
		if w.edited.Load() {
			said = "The quince is soft by now, and everybody wants some of it."
		}
		_, _ = fmt.Fprintf(rw, guide, said)
	case "/long":
		rw.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		_, _ = io.WriteString(rw, "---\ntitle: Long\n---\n\n# Lines\n\n")
		for i := range 6000 {
			_, _ = fmt.Fprintf(rw, "Line %d tells about größe and weather.\n\n", i)
		}
	case "/empty":
		_, _ = io.WriteString(rw, "<!doctype html><html><body></body></html>")
	case "/paid":
		rw.Header().Set("Crawler-Price", "USD 0.01")
		rw.WriteHeader(http.StatusPaymentRequired)
	case "/denied":
		rw.Header().Set("Content-Signal", "ai-input=no")
		_, _ = fmt.Fprintf(rw, guide, "Models should not read of quinces.")
	case "/wall":
		rw.Header().Set("Cf-Mitigated", "challenge")
		_, _ = io.WriteString(rw, "<p>Just a moment")
	case "/data":
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, `{"größe":1}`)
	case "/letters":
		rw.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(rw, "abc🦊 – größer 日本\n")
	case "/text":
		rw.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(rw, "just some words\nin two lines\n")
	case "/links":
		_, _ = io.WriteString(rw, "<title>Many</title><main><h1>Many headings</h1>")
		for i := range 1200 {
			_, _ = fmt.Fprintf(rw,
				"<h2>Heading number %d of the page</h2><p>A sentence under heading %d that is long enough to stay.</p>", i, i)
		}
	case "/slow":
		w.came <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-w.end:
		}
	default:
		http.NotFound(rw, r)
	}
}

// robots answers by the first label of the host's name.
func (w *world) robots(rw http.ResponseWriter, r *http.Request) {
	switch host, _, _ := strings.Cut(r.Host, "."); host {
	case "refusing":
		http.Error(rw, "no", http.StatusForbidden)
	case "strict":
		_, _ = io.WriteString(rw, "User-agent: *\nDisallow: /private\n")
	default:
		http.NotFound(rw, r)
	}
}

// connect begins a session of the SDK's client over a pair of streams.
func (w *world) connect(tb testing.TB, o *sdk.ClientOptions) *sdk.ClientSession {
	tb.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- w.server.Serve(context.Background(), toServer, fromServer)
		_ = fromServer.Close()
	}()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, o).Connect(tb.Context(),
		&sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = session.Close()
		if err := <-served; err != nil {
			tb.Errorf("serve: %v", err)
		}
	})
	return session
}

// connectHTTP begins a session of the SDK's client over HTTP.
func (w *world) connectHTTP(tb testing.TB) *sdk.ClientSession {
	tb.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil).Connect(tb.Context(),
		&sdk.StreamableClientTransport{
			Endpoint: "http://" + w.addr + "/mcp", HTTPClient: client, DisableStandaloneSSE: true,
		}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = session.Close()
		client.CloseIdleConnections()
	})
	return session
}

// use calls a tool and returns its text and its value.
func use(tb testing.TB, s *sdk.ClientSession, name string, args map[string]any) (string, map[string]any) {
	tb.Helper()
	text, value, failed := try(tb, s, name, args)
	if failed {
		tb.Errorf("%s %v failed: %s", name, args, text)
	}
	return text, value
}

// try is use for calls that may fail.
func try(tb testing.TB, s *sdk.ClientSession, name string, args any) (text string, value map[string]any, failed bool) {
	tb.Helper()
	res, err := s.CallTool(tb.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		tb.Fatalf("%s %v: %v", name, args, err)
	}
	if len(res.Content) != 1 {
		tb.Fatalf("%s: %d pieces of content, want 1", name, len(res.Content))
	}
	value, _ = res.StructuredContent.(map[string]any)
	return res.Content[0].(*sdk.TextContent).Text, value, res.IsError
}
