package knowledge_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha512"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func signer(tb testing.TB) *knowledge.Signer {
	tb.Helper()
	s, err := knowledge.OpenSigner(tb.TempDir())
	if err != nil {
		tb.Fatalf("OpenSigner: %v", err)
	}
	return s
}

// pack packs the base docs.
func pack(tb testing.TB, k *opened, s *knowledge.Signer) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := k.Pack(tb.Context(), "docs", s, &b, nil); err != nil {
		tb.Fatalf("Pack: %v", err)
	}
	return b.Bytes()
}

func unpack(k *opened, pack []byte, o knowledge.UnpackOptions) (knowledge.Base, error) {
	return k.Unpack(context.Background(), bytes.NewReader(pack), int64(len(pack)), o)
}

func TestPackedBaseIsTheSameElsewhere(t *testing.T) {
	from := open(t, "", knowledge.Options{})
	dir := folder(t, "sub/x.md", "# From a file\n\nA walrus in a file.")
	b, err := from.CreateBase(knowledge.Base{
		Name: "docs", Source: knowledge.SourceFile, Description: "about walruses",
		Files: []string{filepath.Join(dir, "sub")},
	})
	if err != nil {
		t.Fatalf("CreateBase: %v", err)
	}
	build := from.build(t, "docs")
	if _, err := build.AddFiles(t.Context(), parcel(t, b.Files...), nil); err != nil {
		t.Fatalf("AddFiles: %v", err)
	}
	if err := build.Add(t.Context(), knowledge.Document{Key: from.read(t, "https://a.test/x", prose("walrus", 1),
		true)}); err != nil {
		t.Fatalf("Add: %v", err)
	}
	if _, err := build.Commit(t.Context()); err != nil {
		t.Fatalf("Commit: %v", err)
	}
	if _, err := from.Ingest(t.Context(), knowledge.Ingestion{
		Title: "T", Label: "l", Text: "An ingested walrus.",
		KB: "docs", Metadata: page.Metadata{"a": "b"},
	}); err != nil {
		t.Fatalf("Ingest: %v", err)
	}
	from.drain(t)
	s := signer(t)
	file := pack(t, from, s)
	if bytes.Contains(file, []byte(dir)) {
		t.Errorf("the pack tells where the files were")
	}

	to := open(t, "", knowledge.Options{})
	if _, err := unpack(to, file, knowledge.UnpackOptions{}); err == nil {
		t.Fatalf("a pack of an unknown signer was taken")
	} else if unknown, ok := errors.AsType[*knowledge.UnknownSignerError](err); !ok || unknown.Signer != s.ID() {
		t.Errorf("error %v, want the signer told", err)
	}
	var seen []string
	got, err := unpack(to, file, knowledge.UnpackOptions{
		Trusted:  []string{s.ID()},
		Progress: func(i, total int, _ string) { seen = append(seen, fmt.Sprint(i, "/", total)) },
	})
	if err != nil {
		t.Fatalf("Unpack: %v", err)
	}
	if got.Name != "docs" || got.Description != "about walruses" || got.Documents != 3 ||
		got.Source != knowledge.SourceFile || got.Files != nil {
		t.Errorf("unpacked %+v", got)
	}
	if !slices.Equal(seen, []string{"1/3", "2/3", "3/3"}) {
		t.Errorf("progress %v", seen)
	}
	urls := to.find(t, "docs", "walrus")
	if len(urls) != 3 || !slices.Contains(urls, "https://a.test/x") || !slices.Contains(urls, "file:///sub/x.md") {
		t.Errorf("found %v, want all three", urls)
	}
	if _, err := unpack(to, file, knowledge.UnpackOptions{AnySigner: true}); !errors.Is(err, knowledge.ErrBaseExists) {
		t.Errorf("unpacking it again: error %v, want ErrBaseExists", err)
	}
	if _, err := unpack(to, file, knowledge.UnpackOptions{AnySigner: true, Name: "again"}); err != nil {
		t.Errorf("unpacking it under another name: %v", err)
	}
}

func TestChangedPackIsRefused(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.newBase(t, "docs", knowledge.SourceText)
	k.fill(t, "docs", "a", prose("walrus", 1))
	file := pack(t, k, signer(t))
	try := func(name string, file []byte) {
		t.Helper()
		if _, err := unpack(k, file, knowledge.UnpackOptions{AnySigner: true, Name: "x"}); !errors.Is(err,
			knowledge.ErrBadPack) {
			t.Errorf("%s: error %v, want ErrBadPack", name, err)
		}
	}
	for i := range file {
		changed := bytes.Clone(file)
		changed[i] ^= 0x10
		try(fmt.Sprint("byte ", i, " changed"), changed)
	}
	for _, n := range []int{0, 1, 15, 16, 111, 112, len(file) / 2, len(file) - 1} {
		try(fmt.Sprint("cut to ", n), file[:n])
	}
	try("something appended", append(bytes.Clone(file), 0))
	if list := k.Bases(); len(list) != 1 {
		t.Errorf("bases left: %v", list)
	}
}

// hostilePack signs whatever lines.
func hostilePack(tb testing.TB, lines ...[]byte) []byte {
	tb.Helper()
	_, key, _ := ed25519.GenerateKey(nil)
	z, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	body := append([]byte("readthru pack 1\n"), z.EncodeAll(bytes.Join(lines, []byte("\n")), nil)...)
	body = append(body, key.Public().(ed25519.PublicKey)...)
	sum := sha512.Sum512(body)
	return append(body, ed25519.Sign(key, append([]byte("readthru pack 1: "), sum[:]...))...)
}

func TestHostilePackIsRefusedAndLeavesNothing(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	head := []byte(`{"name":"x","source_type":"text","documents":1}`)
	for name, tt := range map[string]struct {
		lines [][]byte
		max   int64
	}{
		"no head":               {lines: [][]byte{[]byte("x")}},
		"nothing":               {},
		"a name that is a path": {lines: [][]byte{[]byte(`{"name":"../x","source_type":"text"}`), nil}},
		"fewer than it says":    {lines: [][]byte{head, nil}},
		"more than it says": {lines: [][]byte{
			head, []byte(`{"url":"a","markdown":"a"}`),
			[]byte(`{"url":"b","markdown":"b"}`), nil,
		}},
		"negative":     {lines: [][]byte{[]byte(`{"name":"x","source_type":"text","documents":-1}`), nil}},
		"no URL":       {lines: [][]byte{head, []byte(`{"markdown":"a"}`), nil}},
		"a credential": {lines: [][]byte{head, []byte(`{"url":"https://u:p@a.test/","markdown":"a"}`), nil}},
		"a bomb": {lines: [][]byte{
			head,
			[]byte(`{"url":"a","markdown":"` + strings.Repeat("x", 20<<20) + `"}`), nil,
		}, max: 1 << 20},
		"deep JSON": {lines: [][]byte{head, []byte(strings.Repeat("[", 1<<20)), nil}},
	} {
		file := hostilePack(t, tt.lines...)
		if _, err := unpack(k, file, knowledge.UnpackOptions{AnySigner: true, MaxBytes: tt.max}); err == nil {
			t.Errorf("%s: no error", name)
		}
		k.drain(t)
		for prefix, n := range k.keys("k/b/", "k/m/", "k/d/", "k/dp/", "k/q/") {
			t.Errorf("%s: %d records of %s are left", name, n, prefix)
		}
	}
	good := hostilePack(t, head, []byte(`{"url":"a","kind":"file","markdown":"a walrus"}`), nil)
	if _, err := unpack(k, good, knowledge.UnpackOptions{AnySigner: true}); err != nil {
		t.Errorf("the same made well: %v", err)
	}
}

func TestSignerIsKept(t *testing.T) {
	dir := t.TempDir()
	one, err := knowledge.OpenSigner(dir)
	if err != nil {
		t.Fatalf("OpenSigner: %v", err)
	}
	two, err := knowledge.OpenSigner(dir)
	if err != nil || one.ID() != two.ID() || len(one.ID()) != 32 {
		t.Errorf("OpenSigner again: %v, want the same signer", err)
	}
	path := filepath.Join(dir, "pack.key")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the private key: %v, %v, want it for its owner alone", info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("zz"), 0o600); err != nil {
		t.Fatalf("%v", err)
	}
	if _, err := knowledge.OpenSigner(dir); err == nil {
		t.Errorf("a damaged key gave no error")
	}
}

// A pack says what the origins of its pages deny, and so does the base that is made of it.
func TestAPackSaysWhatOriginsDeny(t *testing.T) {
	from := open(t, "", knowledge.Options{})
	if _, err := from.CreateBase(knowledge.Base{Name: "docs", Source: knowledge.SourceScrape}); err != nil {
		t.Fatal(err)
	}
	build := from.build(t, "docs")
	for i, stated := range []page.Preferences{
		{{Use: page.UseTrain, Says: "Content-Signal: ai-train=no", In: page.InHeader}}, {{Use: page.UseTrain, Allowed: true}},
	} {
		p := pageOf(t, fmt.Sprintf("https://a.test/%d", i), prose("walrus", i+1))
		p.Preferences = stated
		if _, err := from.store.PutPage(&p.Record, []byte(prose("walrus", i+1)), store.Sum{}); err != nil {
			t.Fatal(err)
		}
		if err := build.Add(t.Context(), knowledge.Document{Key: page.KeyOf(p.NormalizedURL)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := build.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	to := open(t, "", knowledge.Options{})
	if _, err := unpack(to, pack(t, from, signer(t)), knowledge.UnpackOptions{AnySigner: true}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []any{"Content-Signal: ai-train=no", nil} {
		d, err := to.FindDocument(fmt.Sprintf("https://a.test/%d", i))
		if err != nil || d.Metadata["preferences"] != want {
			t.Errorf("%d: %+v, %v, want metadata with %v", i, d, err, want)
		}
	}
}
