package archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert/archive"
	"github.com/readthru/readthru/convert/guard"
)

func file(tb testing.TB, parts ...string) []byte {
	tb.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err != nil {
			tb.Fatal(err)
		}
		_, _ = w.Write([]byte(parts[i+1])) // a buffer takes everything
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func TestPartsAreBounded(t *testing.T) {
	const maxPart = 1000
	a, err := archive.Open(t.Context(), file(t,
		"Word/A.xml", strings.Repeat("a", 900), "b", strings.Repeat("b", 5000), "c", strings.Repeat("c", 900)), maxPart)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(a.Part("/word/a.xml")); got != 900 || a.Cut {
		t.Errorf("%d bytes, cut %v, want all 900", got, a.Cut)
	}
	if got := len(a.Part("b")); got != 600 || !a.Cut { // one and a half parts are allowed in all
		t.Errorf("%d bytes, cut %v, want the 600 that are left", got, a.Cut)
	}
	if got := len(a.Part("c")); got != 0 {
		t.Errorf("%d bytes after the limit, want none", got)
	}
	if a.Part("d") != nil || a.Has("d") {
		t.Error("a part that is not there was found")
	}
}

func TestRelationsNameParts(t *testing.T) {
	a, err := archive.Open(t.Context(), file(t, "ppt/_rels/p.xml.rels", `<Relationships>
		<Relationship Id="1" Type="http://x/slide" Target="slides/s1.xml"/>
		<Relationship Id="2" Type="http://x/slide" Target="/ppt/slides/s2.xml"/>
		<Relationship Id="3" Type="http://x/slide" Target="../other.xml"/>
		<Relationship Id="4" Type="http://x/hyperlink" Target="https://a.test/" TargetMode="External"/>
		<Relationship Id="5" Type="http://x/hyperlink" Target="`+strings.Repeat("a", archive.MaxTarget+1)+`"/></Relationships>`),
		1<<20)
	if err != nil {
		t.Fatal(err)
	}
	got := a.Relations("ppt/p.xml")
	for id, want := range map[string]archive.Relation{
		"1": {Kind: "slide", Target: "ppt/slides/s1.xml"},
		"2": {Kind: "slide", Target: "ppt/slides/s2.xml"},
		"3": {Kind: "slide", Target: "other.xml"},
		"4": {Kind: "hyperlink", Target: "https://a.test/"},
		"5": {},
	} {
		if got[id] != want {
			t.Errorf("relation %s is %+v, want %+v", id, got[id], want)
		}
	}
}

func TestReadingEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a, err := archive.Open(ctx, file(t, "a", "<a/>"), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := guard.Run(func() { a.Part("a") }); err == nil {
		t.Error("a part was read after the end")
	}
	if _, err := archive.Open(t.Context(), []byte("no archive"), 1); err == nil {
		t.Error("what is no archive was opened")
	}
}
