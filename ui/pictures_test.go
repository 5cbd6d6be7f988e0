package ui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/journal"
	own "github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// pictures writes pictures of pages, light, dark and as on a phone, to the folder in READTHRU_PICTURES.
func pictures(t *testing.T, b *browser, paths []string) {
	t.Helper()
	dir := os.Getenv("READTHRU_PICTURES")
	if dir == "" {
		return
	}
	for _, path := range paths {
		b.open(path)
		name := strings.Trim(strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(path), "-")
		if name == "" {
			name = "now"
		}
		for _, as := range []struct {
			name, scheme  string
			width, height int64
		}{{"light", "light", 1280, 800}, {"dark", "dark", 1280, 800}, {"phone", "light", 360, 740}} {
			call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: as.scheme},
			}})
			b.run(chromedp.EmulateViewport(as.width, as.height))
			picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name+"-"+as.name+".png"), picture, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		b.run(chromedp.EmulateViewport(1280, 900))
	}
}

// TestPictures fills a dashboard with what a day of work leaves, and writes pictures of its rooms.
func TestPictures(t *testing.T) {
	if os.Getenv("READTHRU_PICTURES") == "" {
		t.Skip("READTHRU_PICTURES names no folder")
	}
	w := newWorld(t)
	w.fillDay(t)
	w.fillUsers(t, []string{"zoe"})
	dear := w.put(t, "dear", "Functions of the library",
		"# Functions of the library\n\nThis page lists what the library has.\n\n## Rows\n\n"+
			"| Name | What it does |\n|---|---|\n"+
			strings.Repeat("| gather | Gathers [quinces](https://a.test/quinces) |\n", 80)+
			"\n## Example\n\n```go\n"+strings.Repeat("gather(quinces)\n", 60)+"```\n\n## Last\n\nThat is all.\n")
	b := newBrowser(t, w.base)
	link, err := w.server.Client("test").SigninLink(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	b.open(link.Path)
	pictures(t, b, []string{
		"/pages/" + dear, "/pages/" + dear + "?view=outline", "/", "/?span=24h", "/?span=30d", "/requests",
		"/sites", "/sites/go.dev", "/left", "/system", "/sessions", "/session?name=run-4f2a-claude",
		"/users", "/user?name=ann", "/user?name=bob.b_b-1", "/acts", "/account",
	})
}

// fillDay counts and tells what a month and a day of work leave.
func (w *world) fillDay(t *testing.T) {
	t.Helper()
	now := time.Now()
	for i := range 30 * 24 {
		at := now.Add(-time.Duration(i) * time.Hour)
		n := int64((i*7919)%97 + (24-i%24)*4)
		if at.Weekday() == time.Sunday {
			n /= 12
		}
		c := api.Counts{
			Hit: n * 5, Revalidated: n, Miss: n * 2, Tunnel: n / 4, Refused: n % 3, Failed: n / 40, Visits: n * 3,
			HTMLTokens: n * 9200, MarkdownTokens: n * 1400, BytesIn: n * 410_000, BytesSaved: n * 1_400_000, SavedMS: n * 1900,
			Rendered: n / 9, ThirdParties: n % 2, Errors: n / 40,
		}
		if err := w.store.AddCounts(at, c, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 59 {
		n := int64((i * 31) % 17)
		c := api.Counts{
			Hit: n * 3, Miss: n, Tunnel: n % 3, HTMLTokens: n * 9000, MarkdownTokens: n * 1500, SavedMS: n * 230,
			BytesIn: n * 1e5, BytesSaved: n * 4e5,
		}
		if err := w.store.AddCounts(now.Add(-time.Duration(i)*time.Minute), c, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 40 {
		host := fmt.Sprintf("%s-%d.example.com", strings.Repeat("long", i%6), i)
		if i == 3 {
			host = "go.dev"
		}
		w.store.AddVisit(own.KeyOf("https://"+host+"/"), store.Visit{
			URL: "https://" + host + "/", Source: "local", FromCache: true, Tokens: 900, HTMLTokens: 9000,
			Count: int64(900 - i*20),
		})
		if i%5 == 3 {
			for _, trait := range []store.Trait{store.RejectsCA, store.Negotiates} {
				if _, _, err := w.store.Learn(host, trait, "127.0.0.1 curl/8.1", "", now); err != nil {
					t.Fatal(err)
				}
			}
			says := store.RuleFields{Host: host, Action: "intercept", TTL: time.Hour}
			if _, err := w.store.PutRule(store.Rule{RuleFields: says}, now); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 130 {
		service := []string{"markdown.new", "openai api.openai.com"}[i%3%2]
		err := w.store.Disclose(store.Disclosure{
			Time: now.Add(-time.Duration(i) * 97 * time.Minute), Service: service, Bytes: 40 + int64(i%7)*2900,
			URL: "https://" + []string{"go.dev", "docs.python.org", "developer.mozilla.org"}[i%3] + "/doc/effective_go",
			Why: "the local result is thin", Rule: "markdown_new.mode fallback",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var runs []string
	for i := range 24 {
		runs = append(runs, fmt.Sprintf("run-%04x-%s", 0x4f2a+i*977, []string{"claude", "codex", "gemini"}[i%3]))
	}
	w.fillSessions(t, runs)
	w.fillSystem(nil)
	outcomes := []string{"hit", "hit", "miss", "hit", "revalidated", "tunnel", "miss", "refused", "failed", "bypass"}
	hosts := []string{
		"go.dev", "docs.python.org", "developer.mozilla.org", "api.github.com",
		"a-rather-long-host-name.of-a-team.internal.example.com",
	}
	for i := range 140 {
		e := &journal.Entry{
			Time: now.Add(-time.Duration(140-i) * 7 * time.Second), Method: "GET", Status: 200,
			URL:     "https://" + hosts[i%5] + "/doc/" + strings.Repeat("section-", i%9+1) + "effective_go?lang=en#formatting",
			Outcome: outcomes[i%10], Why: "A stored response is fresh.", Section: "RFC 9111 §4.2",
			Agent:  []string{"claude-code/2.1", "claude-code/2.1", "curl/8.14", "Mozilla/5.0 (X11; Linux) Gecko", ""}[i%5],
			Client: "127.0.0.1", Session: fmt.Sprintf("run-4f2a-%d", i%4), Type: "text/markdown", BytesIn: 48000,
			BytesOut: 9000 + int64(i)*377,
			Tokens:   1200 + i, HTMLTokens: 9000, Micros: int64(i) * 1300, MS: int64(i) * 13 / 10,
			Door: []string{"proxy", "proxy", "mcp", "proxy", "hook", "cli", "proxy", "crawl", "prefix"}[i%9],
		}
		if e.Outcome == "refused" {
			e.Status, e.Why = 403, "The host ads.example is blocked by a rule."
		}
		if e.Outcome == "failed" {
			e.Status, e.Why = 502, "Connection error fetching https://go.dev/: no such host"
		}
		w.told.Add(e)
	}
}
