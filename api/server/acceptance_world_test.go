package server_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/fetch/github"
	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/internal/summary"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func parsed(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// filled returns a value of a type whose every field is something.
func filled(t *testing.T, of reflect.Type) reflect.Value {
	t.Helper()
	v := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(of.Elem()))
		v.Elem().Set(filled(t, of.Elem()))
	case reflect.String:
		v.SetString("text")
	case reflect.Interface: // of metadata: a text or a number
		v.Set(reflect.ValueOf("text"))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Slice:
		v.Set(reflect.Append(v, filled(t, of.Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(of))
		v.SetMapIndex(filled(t, of.Key()), filled(t, of.Elem()))
	case reflect.Struct:
		if of == reflect.TypeFor[time.Time]() {
			return reflect.ValueOf(time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC))
		}
		for i := range of.NumField() {
			if of.Field(i).Tag.Get("json") == "-" {
				continue
			}
			v.Field(i).Set(filled(t, of.Field(i).Type))
		}
	default:
		t.Fatalf("a field is a %s", of)
	}
	return v
}

const quinces = `<body><main><h1>Of quinces</h1><p>A quince keeps for months in a cool room, and its smell fills the house as long as it is there.</p>
<p>Whoever cooks one needs time: it is hard, it is sour, and it turns red only after an hour over a small flame.</p></main></body>`

// html is an origin of one page.
func html(contentType, content string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, content)
		return true
	}
}

// onExample has the fetcher look for GitHub on names that the origin has a certificate for.
func onExample(o *fetch.Options) {
	o.GitHub = github.Options{
		CodeloadURL: "https://codeload.example.com", RawURL: "https://raw.example.com",
		APIURL: "https://api.example.com",
	}
}

// archive is a host that has the archive of one repository, acme/tool.
func archive(files map[string]string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Host != "codeload.example.com" || r.URL.Path != "/acme/tool/tar.gz/HEAD" {
			return false
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		a := tar.NewWriter(z)
		_ = a.WriteHeader(&tar.Header{Name: "tool-main/", Typeflag: tar.TypeDir, Mode: 0o755})
		for name, content := range files {
			_ = a.WriteHeader(&tar.Header{
				Name: "tool-main/" + name, Typeflag: tar.TypeReg, Mode: 0o644,
				Size: int64(len(content)),
			})
			_, _ = io.WriteString(a, content)
		}
		_ = a.Close()
		_ = z.Close()
		w.Header().Set("Content-Type", "application/x-gzip")
		_, _ = w.Write(b.Bytes())
		return true
	}
}

const modelSays = "A cache keeps what an origin said, and says it again for as long as the origin allowed."

// withModel gives the server summaries by a double of a model, which counts what it is asked, and keeps them in the
// store.
func withModel(t *testing.T, asked *atomic.Int64) func(*server.Options) {
	t.Helper()
	double := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{
				"finish_reason": "stop",
				"message":       map[string]any{"role": "assistant", "content": modelSays},
			}},
			"usage": map[string]any{"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
		})
	}))
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		double.Close()
	})
	model, err := llm.New(llm.Options{Provider: llm.OpenAI, BaseURL: double.URL + "/v1", Model: "m", Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *server.Options) {
		key := func(p *page.Page) page.Key { return page.KeyOf(p.NormalizedURL) }
		o.Summary = summary.New(summary.Options{
			Model: model,
			Kept: func(p *page.Page) (list []summary.Summary) {
				for _, s := range o.Store.Summaries(key(p)) {
					if s.ContentHash == p.ContentHash {
						list = append(list, summary.Summary{
							Kind: summary.Kind(s.Kind), Text: s.Text, By: s.By, Model: s.Model,
							Time: s.Time,
						})
					}
				}
				return list
			},
			Keep: func(p *page.Page, s summary.Summary) error {
				return o.Store.AddSummary(key(p), store.Summary{
					ContentHash: p.ContentHash, Kind: string(s.Kind), Text: s.Text,
					By: s.By, Model: s.Model, Time: s.Time,
				})
			},
		})
	}
}

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t *testing.T, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// putResponse stores a response that is of no more use after a time.
func putResponse(t *testing.T, s *store.Store, uri string, retain time.Time) {
	t.Helper()
	r := &store.Response{
		URL: uri, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}},
		RequestTime: time.Now(), ResponseTime: time.Now(), Total: -1, Retain: retain,
	}
	if err := s.PutResponse(r, strings.NewReader("content of "+uri), nil); err != nil {
		t.Fatal(err)
	}
}

// corrupt damages the record of a stored response in a store that is closed.
func corrupt(t *testing.T, dir, uri string) {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(path.Join(dir,
		"db")).WithLogger(nil).WithCompression(0).WithBlockCacheSize(0).WithValueThreshold(1 << 20).WithMemTableSize(8 << 20))
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	err = db.Update(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte("e/")})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			record, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			if !bytes.Contains(record, []byte(uri)) {
				continue
			}
			record[len(record)-1] ^= 1
			damaged++
			if err := txn.Set(it.Item().KeyCopy(nil), record); err != nil {
				return err
			}
		}
		return nil
	})
	if cerr := db.Close(); err != nil || cerr != nil || damaged != 1 {
		t.Fatal(err, cerr, damaged)
	}
}
