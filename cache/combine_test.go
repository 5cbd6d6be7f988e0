package cache_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
)

// ranged serves a body by ranges.
func ranged(body, tag string, fields ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", "max-age=600")
		for _, field := range fields {
			name, value, _ := strings.Cut(field, ": ")
			w.Header().Set(name, value)
		}
		http.ServeContent(w, req, "x.txt", time.Time{}, strings.NewReader(body))
	}
}

func TestRangesInsideAUnionOfPartsAreHits(t *testing.T) {
	r := newRig(t, cache.Options{}, ranged("0123456789", `"a"`))
	for _, tt := range []struct {
		asked, body string
		hit         bool
	}{
		{"0-3", "0123", false},
		{"2-5", "2345", false},  // overlaps
		{"0-5", "012345", true}, // combined
		{"8-9", "89", false},    // by itself
		{"5-8", "5678", false},  // beyond the union
		{"6-7", "67", true},     // what was between
		{"0-9", "0123456789", true},
		{"-4", "6789", true},
	} {
		g := r.get("Range: bytes=" + tt.asked)
		if !tt.hit && tt.asked != "0-3" && !strings.Contains(g.status, "fwd=partial;") { // RFC 9211 §2.2
			t.Errorf("%s: %s, want that another part is stored", tt.asked, g.status)
		}
		if g.code != 206 || g.body != tt.body || strings.Contains(g.status, "hit") != tt.hit ||
			g.header.Get("Content-Length") != strconv.Itoa(len(tt.body)) {
			t.Errorf("%s: %d %q %q %v, want %q, hit %v", tt.asked, g.code, g.body, g.status, g.header, tt.body, tt.hit)
		}
	}
	r.wantAsked(4)
	g := r.get() // all of it was there before: RFC 9110 §15.3.7.3
	if g.code != 200 || g.body != "0123456789" || g.header.Get("Content-Range") != "" ||
		g.header.Get("Content-Length") != "10" || !strings.Contains(g.status, "hit") {
		t.Errorf("the whole: %d %q %q %v", g.code, g.body, g.status, g.header)
	}
	r.wantAsked(4)
	if list, err := r.store.Responses(cache.Key(r.request("GET", "/"))); err != nil || len(list) != 1 {
		t.Errorf("%d responses are stored, want the whole alone: %v", len(list), err)
	}
}

func TestPartsThatDoNotBelongTogetherStayApart(t *testing.T) {
	for name, other := range map[string]http.HandlerFunc{
		"another validator": ranged("abcdefghij", `"b"`),
		"weak":              ranged("0123456789", `W/"a"`),
		"another size":      ranged("0123456789xyz", `"a"`),
		"another Vary":      ranged("0123456789", `"a"`, "Vary: Accept-Language"),
		"not to be stored":  ranged("0123456789", `"a"`, "Cache-Control: no-store"),
	} {
		t.Run(name, func(t *testing.T) {
			first, later := ranged("0123456789", `"a"`), other
			r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
				if req.Header.Get("Range") == "bytes=0-4" {
					first(w, req)
				} else {
					later(w, req)
				}
			})
			r.get("Range: bytes=0-4")
			r.get("Range: bytes=5-9")
			if g := r.get("Range: bytes=3-6"); strings.Contains(g.status, "hit") {
				t.Errorf("%d %q %q", g.code, g.body, g.status)
			}
			r.wantAsked(3)
		})
	}
}

// A whole of coded content is stored only if its coding is whole, as when it comes at once.
func TestPartsOfCodedContentAreOneWholeIfTheCodingIs(t *testing.T) {
	var coded bytes.Buffer
	w := gzip.NewWriter(&coded)
	_, _ = io.WriteString(w, strings.Repeat("text ", 100)) // a buffer takes everything
	_ = w.Close()
	good := coded.String()
	for body, want := range map[string]bool{good: true, good[:len(good)-9] + "123456789": false} {
		r := newRig(t, cache.Options{}, ranged(body, `"a"`, "Content-Encoding: gzip"))
		r.get("Accept-Encoding: gzip", "Range: bytes=0-19")
		if g := r.get("Accept-Encoding: gzip", "Range: bytes=20-"); g.body != body[20:] {
			t.Errorf("the rest: %d %q", g.code, g.body)
		}
		g := r.get("Accept-Encoding: gzip", "Range: bytes=0-")
		if strings.Contains(g.status, "hit") != want || g.body != body {
			t.Errorf("all of it, whole %v: %d %q %q", want, g.code, g.body, g.status)
		}
	}
}

// Random ranges of random bodies: an answer is the range of the body that its entity tag names, and no byte of it that
// the origin never sent comes from the store. Once all of a body that stays has come, the origin is not asked again.
func TestRandomRangesAreThoseOfTheirBody(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	var handler http.HandlerFunc
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) { handler(w, req) })
	hits := 0
	for round := range 12 {
		changes := round%3 == 0
		size := 1 + random.IntN(3000)
		bodies, sent := map[string]string{}, map[string][]bool{}
		for _, tag := range []string{`"a"`, `"b"`} {
			body := make([]byte, size)
			for i := range body {
				body[i] = byte(random.Uint32())
			}
			bodies[tag], sent[tag] = string(body), make([]bool, size)
		}
		tag := `"a"`
		for range 60 {
			if changes && random.IntN(8) == 0 {
				tag = []string{`"a"`, `"b"`}[random.IntN(2)]
			}
			handler = ranged(bodies[tag], tag)
			first := random.IntN(size)
			last := min(first+random.IntN(1+size/4), size-1)
			asked := r.asked.Load()
			g := r.do(r.request("GET", fmt.Sprintf("/%d", round), fmt.Sprintf("Range: bytes=%d-%d", first, last)))
			named, what := g.header.Get("ETag"), fmt.Sprintf("round %d, %d-%d of %d bytes", round, first, last, size)
			if g.code != 206 || bodies[named] == "" || g.body != bodies[named][first:last+1] ||
				g.header.Get("Content-Range") != fmt.Sprintf("bytes %d-%d/%d", first, last, size) {
				t.Fatalf("%s: %d, %d bytes, %q %v", what, g.code, len(g.body), g.status, g.header)
			}
			hit := r.asked.Load() == asked
			if hit && slices.Contains(sent[named][first:last+1], false) {
				t.Fatalf("%s: the origin never sent some of %s, and was not asked", what, named)
			}
			if !hit && !changes && !slices.Contains(sent[named], false) {
				t.Fatalf("%s: the origin sent all of it before, and was asked again", what)
			}
			if hit {
				hits++
			}
			for i := first; i <= last; i++ {
				sent[named][i] = true
			}
		}
	}
	if hits < 100 {
		t.Errorf("%d hits", hits)
	}
}

// A client that stops reading a part goes on in what the part was combined to.
func TestAStalledClientOfAPartGoesOnInTheWhole(t *testing.T) {
	var b strings.Builder
	for n := range 60 << 10 { // of several parts in the store
		fmt.Fprintf(&b, "%09d\n", n)
	}
	body := b.String()
	inBubble(t, ranged(body, `"a"`), func(b *bubble) {
		open := func(asked string) *http.Response {
			resp, err := b.open(b.t.Context(), "Range: bytes="+asked)
			if err != nil {
				b.t.Fatal(err)
			}
			return resp
		}
		before := open("0-299999")
		_, _ = io.Copy(io.Discard, before.Body)
		before.Body.Close()
		resp := open("200000-")
		defer resp.Body.Close()
		begin := make([]byte, 1000)
		if _, err := io.ReadFull(resp.Body, begin); err != nil {
			b.t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if n := b.cache.Held(); n != 0 {
			b.t.Errorf("%d bytes held for a client that stalls", n)
		}
		rest, err := io.ReadAll(resp.Body)
		if err != nil || string(begin)+string(rest) != body[200000:] {
			b.t.Errorf("read %d bytes, %v; want %d", len(begin)+len(rest), err, len(body)-200000)
		}
	})
}
