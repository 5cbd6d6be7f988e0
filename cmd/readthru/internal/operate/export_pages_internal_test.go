package operate

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/page"
)

// shelf answers with some pages, as a server does.
type shelf []*page.Page

func (s shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var v any = api.PageList{Pages: s}
	if doc, one := strings.CutPrefix(r.URL.Path, "/api/v1/pages/"); one {
		v = s[slices.IndexFunc(s, func(pg *page.Page) bool { return pg.Doc == doc })]
	}
	_ = json.NewEncoder(w).Encode(v) // a reader in process reads to the end
}

func TestEveryPageIsExportedWhateverTheOthersAreCalled(t *testing.T) {
	var s shelf
	for _, raw := range []string{
		"https://a.test/a", "https://a.test/a.md/b", "https://a.test/A", "https://a.test/a.md",
		"https://a.test/b.md/c", "https://a.test/b",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		pg := page.New(u)
		pg.Content = "content of " + raw
		s = append(s, pg)
	}
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	s[1].Preferences = page.Preferences{
		{Use: page.UseTrain, Says: "Content-Signal: ai-train=no", In: page.InHeader}, {Use: page.UseSearch, Allowed: true},
	}
	n, denied, err := exportPages(t.Context(), api.NewLocalClient(s, "", "", slog.New(slog.DiscardHandler)), root, "",
		terminal.NewBar(io.Discard))
	if n != len(s) || err != nil {
		t.Errorf("exportPages = %d, %v, want all %d", n, err, len(s))
	}
	if len(denied) != 1 || denied[0].URL != "https://a.test/a.md/b" ||
		denied[0].Denies[0] != "Content-Signal: ai-train=no" || exportDenials(root, denied) != nil {
		t.Errorf("%+v, want the page whose origin denies training", denied)
	}
	if text, err := root.ReadFile(denied[0].File); err != nil || !strings.Contains(string(text), "content of") {
		t.Errorf("the file that the list names: %q, %v", text, err)
	}
	var all strings.Builder
	err = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var text []byte
			text, err = os.ReadFile(name)
			all.Write(text)
			all.WriteByte('\n')
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, pg := range s {
		if n := strings.Count(all.String(), pg.Content+"\n"); n != 1 {
			t.Errorf("%s is in %d files, want one", pg.URL, n)
		}
	}
}
