package e2e_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/render/rendertest"
)

// TestPicturesOfTheReadme has agents read a small web of ours, and writes the pictures of the README to the folder in
// READTHRU_PICTURES ("make pictures").
func TestPicturesOfTheReadme(t *testing.T) {
	to := os.Getenv("READTHRU_PICTURES")
	if to == "" {
		t.Skip("READTHRU_PICTURES names no folder")
	}
	chromium := needs.Program(t, "chromium")
	d := serveIn(t, newWeb(t, http.HandlerFunc(library)), rendertest.Dir(t))
	d.readthru("rules", "add", "bank.example", "--action", "tunnel")
	d.readthru("rules", "add", "ads.example", "--action", "block")
	agents := []string{"claude-cli/2.1", "codex_cli_rs/0.98", "python-requests/2.32"}
	for round := range 3 {
		for i, topic := range topics {
			for _, host := range []string{"docs.larder.example", "handbook.quince.example", "api.orchard.example"} {
				if (i+len(host)+round)%3 == 0 {
					continue
				}
				d.get("https://"+host+"/"+strings.ReplaceAll(topic, " ", "-"), "Accept: */*", "User-Agent: "+agents[i%3])
			}
		}
		for _, target := range []string{
			"https://api.orchard.example/v1/trees.json", "http://ads.example/pixel", "https://docs.larder.example/gone",
		} {
			d.get(target, "Accept: */*", "User-Agent: "+agents[round])
		}
	}
	var told struct{ Requests []struct{ ID string } }
	if err := json.Unmarshal([]byte(d.readthru("requests", "--json", "outcome:revalidated")), &told); err != nil {
		t.Fatal(err)
	}
	for page, name := range map[string]string{
		"/requests": "requests.png", "/requests/" + told.Requests[0].ID: "request.png",
	} {
		file := filepath.Join(to, name)
		link := strings.TrimSpace(d.readthru("open", "--print", page))
		if _, errs, err := command(t, d.env, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
			"--user-data-dir="+filepath.Join(d.dir, "profile "+name), "--window-size=1200,640", "--screenshot="+file,
			link); err != nil {
			t.Fatalf("%v\n%s", err, errs)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > 200<<10 {
			t.Errorf("%s has %d bytes, want at most 200 KiB", name, info.Size())
		}
	}
}

var topics = []string{
	"getting started", "storing quinces", "cold larders", "rotating shelves", "labels and dates", "preserving", "pests",
	"humidity", "stone floors", "winter pears", "crates", "inventory", "recipes", "troubleshooting",
}

// library is a web of documentation: menus around a text, as sites have them.
func library(w http.ResponseWriter, r *http.Request) {
	name := strings.ReplaceAll(strings.Trim(r.URL.Path, "/"), "-", " ")
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(r.Host + r.URL.Path))
	switch {
	case name == "gone":
		http.NotFound(w, r)
		return
	case strings.HasSuffix(name, ".json"):
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = io.WriteString(w, `{"trees":[{"name":"quince","planted":1998}]}`)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", fmt.Sprintf("max-age=%d", 60*(sum.Sum32()%20)))
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sum.Sum32()))
	if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html><html lang=en><head><title>%s</title></head><body><nav><ul>", name)
	for _, topic := range topics {
		fmt.Fprintf(&b, `<li class="menu-item menu-item-type-page"><a class="menu-link" href="/%s">%s</a></li>`, topic, topic)
	}
	fmt.Fprintf(&b, "</ul></nav><main><h1>%s</h1>", name)
	for i := range 6 + sum.Sum32()%9 {
		fmt.Fprintf(&b, "<h2>Part %d</h2><p>%s</p>", i+1, strings.Repeat("What is stored cool and dry keeps. ", 12))
	}
	b.WriteString("</main><footer>Imprint</footer></body></html>")
	_, _ = io.WriteString(w, b.String())
}
