package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/eventually"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent is a client of the official SDK in a session with the program.
type agent struct {
	t *testing.T
	s *mcp.ClientSession
}

// join opens a session over transport, until the test ends.
func join(t *testing.T, transport mcp.Transport) *agent {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &agent{t, s}
}

// started is the transport to a "readthru mcp" of its own, which starts a daemon if none runs.
func started(t *testing.T, env []string) mcp.Transport {
	t.Helper()
	stopAfter(t, env)
	cmd := exec.CommandContext(t.Context(), binary, "mcp")
	cmd.Env = env
	return &mcp.CommandTransport{Command: cmd}
}

// use calls a tool and returns its text.
func (a *agent) use(tool string, args map[string]any) string {
	a.t.Helper()
	res, err := a.s.CallTool(a.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	var text strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	if res.IsError {
		a.t.Fatalf("%s: %s", tool, text.String())
	}
	return text.String()
}

// TestAnAgentWorksThroughASession is what an agent does with the program as it is installed: it fetches a page and
// pages through it, lists, searches, reads a section and checks a quote.
func TestAnAgentWorksThroughASession(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, w *web) mcp.Transport{
		"a program with all in it": func(t *testing.T, w *web) mcp.Transport {
			t.Helper()
			return started(t, environ(w, t.TempDir()))
		},
		"a program that asks a daemon": func(t *testing.T, w *web) mcp.Transport {
			t.Helper()
			return started(t, serve(t, w).env)
		},
		"a daemon over HTTP": func(t *testing.T, w *web) mcp.Transport {
			t.Helper()
			return &mcp.StreamableClientTransport{Endpoint: "http://" + serve(t, w).admin + "/mcp"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := join(t, open(t, newWeb(t, site())))
			const page = "https://site.test/guide/page"
			first := a.use("fetch", map[string]any{"url": page, "max_length": 60})
			if !strings.HasPrefix(first, "Contents of "+page+":\n# Rivers of the north\n") ||
				!strings.Contains(first, "start_index of 60") {
				t.Errorf("the first part is %q", first)
			}
			if rest := a.use("fetch", map[string]any{"url": page, "start_index": 60}); !strings.Contains(rest, "900 km") ||
				strings.Contains(rest, "# Rivers") {
				t.Errorf("the second part is %q", rest)
			}
			if list := a.use("recent_pages", map[string]any{"host": "site.test"}); !strings.Contains(list, page) {
				t.Errorf("recent pages: %q", list)
			}
			a.use("list_knowledge_bases", nil)
			eventually.True(t, "the page is found", func() bool {
				return strings.Contains(a.use("search_knowledge_base",
					map[string]any{"query": "snow that fell a thousand years ago"}), page)
			})
			if text := a.use("get_page", map[string]any{"url": page, "section": "rivers-of-the-north"}); !strings.Contains(text,
				"short but deep") {
				t.Errorf("the section is %q", text)
			}
			if text := a.use("verify_quote", map[string]any{
				"url":   page,
				"quote": "its water comes from snow",
			}); !strings.Contains(text, "Found in line 3 under Rivers of the north.") {
				t.Errorf("the quote: %q", text)
			}
		})
	}
}

// TestAnAgentsShellFindsADaemonOnceItsToolsAreListed has an agent that is set up, and whose settings name the proxy's
// port, read a page by curl before it uses any tool, while no daemon runs.
func TestAnAgentsShellFindsADaemonOnceItsToolsAreListed(t *testing.T) {
	w := newWeb(t, site())
	// No client of another test gets a port of an address that is not 127.0.0.1.
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	proxy := host + ":17717"
	env := append(environ(w, t.TempDir()), "READTHRU_PROXY_LISTEN="+proxy, "READTHRU_ADMIN_LISTEN="+host+":17718")
	a := join(t, started(t, env))
	if _, err := a.s.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "curl", "-q", "-sS", "-x", "http://"+proxy,
		"http://site.test/guide/page").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "# Rivers of the north") {
		t.Errorf("%v, %q, want the page as markdown", err, out)
	}
}

func TestASessionOutlivesTheDaemonItAsked(t *testing.T) {
	w := newWeb(t, site())
	dir := t.TempDir()
	d := serveIn(t, w, dir)
	a := join(t, started(t, d.env))
	const page = "https://site.test/fresh"
	before := a.use("fetch", map[string]any{"url": page})
	d.readthru("pages") // a list waits until what it lists is written: a kill loses what is not
	for _, end := range []func(*daemon){(*daemon).kill, (*daemon).stop} {
		end(d)
		d = serveIn(t, w, dir)
		if after := a.use("fetch", map[string]any{"url": page}); after != before {
			t.Errorf("with another daemon: %q, want %q", after, before)
		}
	}
	d.stop()
	if after := a.use("fetch", map[string]any{"url": page}); after != before {
		t.Errorf("without any daemon: %q, want %q", after, before)
	}
	if n := len(w.requests("/fresh")); n != 1 {
		t.Errorf("the origin was asked %d times, want once", n)
	}
}
