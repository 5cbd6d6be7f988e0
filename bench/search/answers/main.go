// Command answers measures what an agent gets of a search over MCP: whether the passage that is shown for a hit holds
// the answer to a question, whether the hit's link leads to it, and how many tokens three hits take.
//
//	make build && go run -C bench/search ./answers -docs FOLDER [-dir FOLDER] [-v]
//
// The docs are where Debian 12 installs the packages that questions.tsv asks about, /usr/share/doc; what is stored of
// them is kept in a folder for the next run if -dir names one. A question comes with a pattern of its answer. Both were
// written before any result was seen. Beside it stands what the same passages give in SQLite's FTS5.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/webtest"
)

//go:embed questions.tsv
var questions string

// folders are where the packages have their pages.
var folders = map[string]string{
	"git-doc": "git-doc", "nodejs-doc": "nodejs/api", "sqlite3-doc": "sqlite3", "python3.11-doc": "python3.11/html",
}

func main() {
	docs := flag.String("docs", "/usr/share/doc", "`folder` of Debian's documentation")
	binary := flag.String("readthru", "../../bin/readthru", "the `program`")
	dir := flag.String("dir", "", "`folder` for what is stored; empty: a new one, removed at the end")
	verbose := flag.Bool("v", false, "show the hits that hold no answer")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *docs, *binary, *dir, *verbose)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "answers:", err)
		os.Exit(1)
	}
}

// question is a question about a set of documentation, with a pattern of its answer.
type question struct {
	set, text string
	answer    *regexp.Regexp
}

func read() (list []question, sets []string, err error) {
	for line := range strings.Lines(questions) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			return nil, nil, fmt.Errorf("questions.tsv: %q has not three columns", line)
		}
		answer, err := regexp.Compile(fields[2])
		if err != nil {
			return nil, nil, err
		}
		list = append(list, question{fields[0], fields[1], answer})
		if !slices.Contains(sets, fields[0]) {
			sets = append(sets, fields[0])
		}
	}
	return list, sets, nil
}

// root returns the folder of a package's pages.
func root(docs, set string) string {
	if folder := folders[set]; folder != "" {
		return filepath.Join(docs, folder)
	}
	return filepath.Join(docs, set, "html")
}

func run(ctx context.Context, docs, binary, dir string, verbose bool) error {
	list, sets, err := read()
	if err != nil {
		return err
	}
	hosts := map[string]http.Handler{}
	for _, set := range sets {
		at := root(docs, set)
		if _, err := os.Stat(filepath.Join(at, "index.html")); err != nil {
			return fmt.Errorf("%w; install %s of Debian 12", err, set)
		}
		hosts[set+".test"] = http.FileServer(http.Dir(at))
	}
	authority, err := webtest.NewAuthority()
	if err != nil {
		return err
	}
	web, err := webtest.Serve(ctx, webtest.Config{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if h := hosts[r.Host]; h != nil {
				h.ServeHTTP(w, r)
				return
			}
			http.NotFound(w, r)
		}),
		Certificate: authority.LeafFor,
	})
	if err != nil {
		return err
	}
	defer web.Close()
	if dir == "" {
		if dir, err = os.MkdirTemp("", "readthru-bench-answers-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir) //nolint:errcheck // what is left is in the system's temporary folder
	}
	d, err := webtest.StartDaemon(ctx, &webtest.DaemonOptions{
		Binary: binary, Home: dir, Web: web, Env: []string{"READTHRU_CRAWL_INTERVAL=1ms"},
	})
	if err != nil {
		return err
	}
	defer d.Kill()
	if err := fill(ctx, d, sets); err != nil {
		return err
	}
	if err := ask(func(q question) ([]hit, string, error) { return search(ctx, d, q) }, docs, list, sets,
		verbose); err != nil {
		return err
	}
	beside, err := openFTS5(ctx, docs, sets)
	if err != nil {
		return err
	}
	fmt.Println("\nFTS5, porter, the same passages:")
	err = ask(func(q question) ([]hit, string, error) { return beside.search(ctx, q) }, docs, list, sets, false)
	return errors.Join(err, beside.db.Close())
}

// fill makes a knowledge base of each set that has none.
func fill(ctx context.Context, d *webtest.Daemon, sets []string) error {
	for _, set := range sets {
		if _, err := d.Ask(ctx, "/api/v1/kbs/"+set, "", nil); err == nil {
			continue
		}
		sent, err := json.Marshal(map[string]any{"name": set, "crawl": "http://" + set + ".test/", "limit": 5000})
		if err != nil {
			return err
		}
		var filling struct {
			Job struct{ ID, State, Error string }
		}
		if _, err := d.Ask(ctx, "/api/v1/kbs", string(sent), &filling); err != nil {
			return err
		}
		for filling.Job.State != "done" {
			if filling.Job.State == "failed" {
				return fmt.Errorf("fill %s: %s", set, filling.Job.Error)
			}
			if _, err := d.Ask(ctx, "/api/v1/jobs/"+filling.Job.ID, "", &filling.Job); err != nil {
				return err
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return nil
}

// hit is what is read of a hit.
type hit struct{ URL, Link, Heading, Snippet string }

// search asks the tool for three hits. Text is what a model reads of them.
func search(ctx context.Context, d *webtest.Daemon, q question) (hits []hit, text string, err error) {
	sent, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
			"name": "search_knowledge_base", "arguments": map[string]any{"query": q.text, "kb_name": q.set, "limit": 3},
		},
	})
	if err != nil {
		return nil, "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.Admin+"/mcp", bytes.NewReader(sent))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+d.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		return nil, "", err
	}
	body := b.Bytes()
	if at := bytes.Index(body, []byte("data: ")); at >= 0 && !bytes.HasPrefix(body, []byte("{")) {
		body, _, _ = bytes.Cut(body[at+len("data: "):], []byte("\n"))
	}
	var answer struct {
		Result struct {
			Content           []struct{ Text string }
			StructuredContent struct{ Results []hit }
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, "", fmt.Errorf("%w in %.300s", err, body)
	}
	if len(answer.Result.Content) == 0 {
		return nil, "", fmt.Errorf("no answer: %.300s", body)
	}
	return answer.Result.StructuredContent.Results, answer.Result.Content[0].Text, nil
}

// tally is what came of questions.
type tally struct {
	asked, first, three int
	links, led          int // first hits with a link to a place; those whose passage stands there
	tokens              []int
}

// ask asks the questions and prints what came of them.
func ask(find func(question) ([]hit, string, error), docs string, list []question, sets []string, verbose bool) error {
	all := map[string]*tally{}
	whole := &tally{}
	for _, q := range list {
		hits, text, err := find(q)
		if err != nil {
			return fmt.Errorf("%s: %w", q.text, err)
		}
		t := all[q.set]
		if t == nil {
			t = &tally{}
			all[q.set] = t
		}
		place := slices.IndexFunc(hits, func(h hit) bool { return q.answer.MatchString(h.Heading + "\n" + h.Snippet) })
		for _, t := range []*tally{t, whole} {
			t.asked++
			if place == 0 {
				t.first++
			}
			if place >= 0 {
				t.three++
			}
			t.tokens = append(t.tokens, convert.Tokens(text))
		}
		if verbose && place != 0 {
			fmt.Printf("\n%s: %s (%s): answer in hit %d\n%s", q.set, q.text, q.answer, place+1, text)
		}
		if len(hits) == 0 || hits[0].Link == "" {
			continue
		}
		led, err := leads(filepath.Join(root(docs, q.set)), &hits[0])
		if err != nil {
			return err
		}
		if verbose && !led {
			fmt.Printf("\nlink does not lead there: %s\n%s\n", hits[0].Link, hits[0].Snippet)
		}
		for _, t := range []*tally{t, whole} {
			t.links++
			if led {
				t.led++
			}
		}
	}
	fmt.Printf("%-22s %9s %7s %7s %7s %7s %7s\n", "set", "questions", "first", "three", "links", "led", "tokens")
	for _, set := range append(sets, "all") {
		t := whole
		if set != "all" {
			t = all[set]
		}
		slices.Sort(t.tokens)
		fmt.Printf("%-22s %9d %7.2f %7.2f %7d %7d %7d\n", set, t.asked, float64(t.first)/float64(t.asked),
			float64(t.three)/float64(t.asked), t.links, t.led, t.tokens[len(t.tokens)/2])
	}
	return nil
}

// leads reports whether words of what is shown of a hit stand behind the place in the page that its link names.
func leads(root string, h *hit) (bool, error) {
	address, fragment, _ := strings.Cut(h.Link, "#")
	_, path, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	if path == "" || strings.HasSuffix(path, "/") {
		path += "index.html"
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return false, err
	}
	tree, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return false, err
	}
	var behind strings.Builder
	found := false
	for n := range tree.Descendants() {
		for _, a := range n.Attr {
			found = found || (a.Key == "id" || a.Key == "name") && a.Val == fragment
		}
		if found && n.Type == html.TextNode {
			behind.WriteString(n.Data)
		}
	}
	shown := ""
	for part := range strings.SplitSeq(h.Snippet, "…") { // a snippet may be of two places
		if part = letters(part); len(part) > len(shown) {
			shown = part
		}
	}
	if len(shown) > 60 { // the middle of what is shown, which no context of it is in
		shown = shown[len(shown)/2 : len(shown)/2+24]
	}
	there := letters(behind.String())
	at := strings.Index(there, shown)
	return found && at >= 0 && at < 20_000, nil
}

// letters returns the ASCII letters and digits of a text, in lower case.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(text))
}
