package cache_test

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/store"
)

// The model of this file is RFC 9111 as it is written, slow and plain, over histories of a few words each. It forbids;
// it never says that a response must be reused. TestTheCacheNeverServesWhatTheModelForbids holds the cache against it.

// A history is one URL's: what the origin said, and what the cache answered.
type history struct {
	t  *testing.T
	mu sync.Mutex // free only while the cache works or time passes: it may ask the origin in the background

	rnd     *rand.Rand
	shared  bool
	entries []entry // what a cache may hold
	current int     // the representation that the origin has now
	part    bool    // the client asked for a part
	failed  bool    // the origin did not answer the present request, or with a server error
	log     []string
}

// An entry is a response that a cache may have stored.
type entry struct {
	id             int
	asked          http.Header // of the request
	said           http.Header
	sent, received time.Time
	status         int
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf("%s ", time.Now().Format("15:04:05"))+fmt.Sprintf(format, args...))
}

// pick returns one of the choices, which are as likely as often they are named.
func pick[T any](rnd *rand.Rand, choices ...T) T { return choices[rnd.IntN(len(choices))] }

// content is the content of a representation: ten bytes.
func content(id int) string { return fmt.Sprintf("%010d", id) }

// fields returns random fields of a response.
func (h *history) fields() http.Header {
	f := http.Header{}
	set := func(name, value string) {
		if value != "" {
			f.Set(name, value)
		}
	}
	n := h.rnd
	var cc []string
	for range n.IntN(4) {
		cc = append(cc, pick(n, "max-age=5", "max-age=10", "max-age=60", "max-age=60", "max-age=60", "max-age=200",
			"max-age=0", "s-maxage=20", "s-maxage=0", "public", "public", "private",
			"no-store", "no-cache", "must-revalidate", "proxy-revalidate", "stale-while-revalidate=10", "stale-if-error=30",
			"max-age=x", "extension"))
	}
	set("Cache-Control", strings.Join(cc, ", "))
	now := time.Now().UTC()
	switch n.IntN(5) {
	case 0:
		set("Date", now.Add(-8*time.Second).Format(http.TimeFormat))
	case 1:
		set("Date", "yesterday")
	case 2:
	default:
		set("Date", now.Format(http.TimeFormat))
	}
	set("Age", pick(n, "", "", "", "3", "30", "x"))
	set("Vary", pick(n, "", "", "", "", "", "", "X-A", "X-A, X-B", "*", "Cookie"))
	set("Expires", pick(n, "", "", "", now.Add(15*time.Second).Format(http.TimeFormat), "0"))
	set("Last-Modified", pick(n, "", "", now.Add(-200*time.Second).Format(http.TimeFormat)))
	set("Set-Cookie", pick(n, "", "", "", "s=1"))
	return f
}

// sleep lets seconds pass. The caller holds mu, which is free meanwhile.
func (h *history) sleep(seconds int) {
	h.mu.Unlock()
	defer h.mu.Lock()
	time.Sleep(time.Duration(seconds) * time.Second)
}

// RoundTrip is the origin.
func (h *history) RoundTrip(req *http.Request) (*http.Response, error) {
	sent := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sleep(h.rnd.IntN(3))
	now := time.Now()
	if h.rnd.IntN(8) == 0 {
		h.failed = true
		h.note("   origin gone")
		return nil, io.ErrUnexpectedEOF
	}
	f := h.fields()
	resp := &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: f,
		Request: req, Body: http.NoBody,
	}
	if req.Method == http.MethodPost {
		resp.StatusCode = pick(h.rnd, 200, 204, 303, 400, 500)
		h.note("   POST answered %d", resp.StatusCode)
		if resp.StatusCode < 400 {
			h.entries = nil // §4.4
		}
		return resp, nil
	}
	if h.rnd.IntN(8) == 0 {
		h.failed = true
		h.note("   origin 503")
		resp.StatusCode, resp.Header = 503, http.Header{"X-Id": {"0"}, "Date": {now.UTC().Format(http.TimeFormat)}}
		return resp, nil
	}
	tag := func() string { return strconv.Quote(strconv.Itoa(h.current)) }
	if tags := req.Header.Get("If-None-Match"); strings.Contains(tags, tag()) && h.rnd.IntN(4) > 0 {
		resp.StatusCode = http.StatusNotModified
		f.Set("Etag", tag())
		h.note("   304 %v", f)
		h.freshen(req.Header, f, sent, now)
		return resp, nil
	}
	if req.Method == http.MethodHead {
		f.Set("Etag", tag())
		f.Set("Content-Length", "10")
		resp.ContentLength = 10
		h.note("   HEAD 200 %v", f)
		h.freshen(req.Header, f, sent, now)
		return resp, nil
	}
	body := content(h.current)
	var first, last int
	if n, _ := fmt.Sscanf(req.Header.Get("Range"), "bytes=%d-%d", &first, &last); n > 0 {
		if n == 1 {
			last = 9
		}
		resp.StatusCode, body = http.StatusPartialContent, body[first:last+1]
		f.Set("Content-Range", fmt.Sprintf("bytes %d-%d/10", first, last))
	} else if h.rnd.IntN(2) == 0 {
		h.current++
		body = content(h.current)
	}
	if h.rnd.IntN(3) > 0 {
		f.Set("Etag", tag())
	}
	f.Set("X-Id", strconv.Itoa(h.current))
	f.Set("Content-Length", strconv.Itoa(len(body)))
	resp.ContentLength, resp.Body = int64(len(body)), io.NopCloser(strings.NewReader(body))
	h.note("   %d %v", resp.StatusCode, f)
	status := resp.StatusCode
	if !h.part {
		status = http.StatusOK // a cache asked for the rest of a part: with that it is whole (§3.4)
	}
	e := entry{id: h.current, asked: req.Header.Clone(), said: f.Clone(), sent: sent, received: now, status: status}
	if status != resp.StatusCode {
		h.complete(e)
	} else if h.storable(&e) {
		h.entries = append(h.entries, e)
	}
	return resp, nil
}

// complete is §3.4: the fields that brought the rest replace those of a stored part, whichever it was.
func (h *history) complete(rest entry) {
	for _, e := range slices.Clone(h.entries) {
		if e.id == rest.id && e.status == http.StatusPartialContent {
			whole := rest
			whole.said = e.said.Clone()
			whole.said.Del("Age")
			whole.said.Del("Date")
			maps.Copy(whole.said, rest.said)
			if h.storable(&whole) {
				h.entries = append(h.entries, whole)
			}
		}
	}
}

// says looks for a directive, and returns its argument.
func says(f http.Header, directive string) (arg string, ok bool) {
	for d := range strings.SplitSeq(f.Get("Cache-Control"), ", ") {
		if name, arg, _ := strings.Cut(d, "="); name == directive {
			return arg, true
		}
	}
	return "", false
}

func has(f http.Header, directive string) bool { _, ok := says(f, directive); return ok }

// seconds is a directive's argument; -1 if there is no such directive.
func seconds(f http.Header, directive string) time.Duration {
	arg, ok := says(f, directive)
	if !ok {
		return -1
	}
	n, _ := strconv.Atoi(arg)
	return time.Duration(n) * time.Second
}

// storable is §3 and §3.5, and that any other field that may tell who asks needs the origin's word, too.
func (h *history) storable(e *entry) bool {
	switch {
	case has(e.asked, "no-store"), has(e.said, "no-store"), h.shared && has(e.said, "private"):
		return false
	case h.shared && e.asked.Get("Authorization") != "" &&
		!has(e.said, "public") && !has(e.said, "must-revalidate") && !has(e.said, "s-maxage"):
		return false
	}
	return !h.shared || e.allowsOthers()
}

// allowsOthers reports whether the origin said by name who else may get e.
func (e *entry) allowsOthers() bool {
	if has(e.said, "public") || has(e.said, "s-maxage") {
		return true
	}
	for _, name := range []string{"Cookie", "X-A", "X-B"} {
		if e.asked.Get(name) != "" && !strings.Contains(e.said.Get("Vary"), name) {
			return false
		}
	}
	return true
}

// sameReader reports whether two requests carry the same in every field that may tell who asks.
func sameReader(a, b http.Header) bool {
	for _, name := range []string{"Authorization", "Cookie", "X-A", "X-B"} {
		if a.Get(name) != b.Get(name) {
			return false
		}
	}
	return true
}

// selects is §4.1.
func (e *entry) selects(asked http.Header) bool {
	for name := range strings.SplitSeq(e.said.Get("Vary"), ", ") {
		if name == "*" || name != "" && !slices.Equal(e.asked[http.CanonicalHeaderKey(name)],
			asked[http.CanonicalHeaderKey(name)]) {
			return false
		}
	}
	return true
}

// freshen is §4.3.4 and §4.3.5: the fields of a 304 or a HEAD for the representation that is current.
func (h *history) freshen(asked, fields http.Header, sent, received time.Time) {
	var kept []entry
	for _, e := range h.entries {
		fresh := e
		fresh.asked, fresh.said, fresh.sent, fresh.received = asked.Clone(), e.said.Clone(), sent, received
		fresh.said.Del("Age")
		fresh.said.Set("Date", received.UTC().Format(http.TimeFormat))
		maps.Copy(fresh.said, fields)
		switch {
		case e.said.Get("Etag") != fields.Get("Etag"):
			kept = append(kept, e) // another representation
		case has(asked, "no-store"):
			kept = append(kept, e) // §5.2.1.5: nothing of the answer is stored
		case !h.shared && (e.asked.Get("Authorization") != asked.Get("Authorization") ||
			(has(e.said, "private") || !e.allowsOthers()) && !sameReader(e.asked, asked)):
			kept = append(kept, e) // of another partition
		case e.status == http.StatusPartialContent:
			kept = append(kept, e) // no cache need ask about a part; a 304 for the client's own copy says nothing of it
			if h.storable(&fresh) {
				kept = append(kept, fresh) // but a cache that has all parts may have asked about the whole
			}
		case !e.selects(asked):
			kept = append(kept, e) // another variant, that may now serve this request, too
			if h.storable(&fresh) {
				kept = append(kept, fresh)
			}
		case !h.storable(&fresh) && h.storable(&entry{asked: http.Header{}, said: fresh.said}):
			kept = append(kept, e) // validated for one with credentials: what others have stays
		case h.storable(&fresh):
			kept = append(kept, fresh)
		}
	}
	h.entries = kept
}

// age is §4.2.3.
func (e *entry) age(now time.Time) time.Duration {
	date, err := http.ParseTime(e.said.Get("Date"))
	if err != nil {
		date = e.received
	}
	stated, _ := strconv.Atoi(e.said.Get("Age"))
	return max(e.received.Sub(date), time.Duration(stated)*time.Second+e.received.Sub(e.sent), 0) + now.Sub(e.received)
}

// lifetime is §4.2.1 and §4.2.2.
func (h *history) lifetime(e *entry) time.Duration {
	date, err := http.ParseTime(e.said.Get("Date"))
	if err != nil {
		date = e.received
	}
	switch {
	case h.shared && has(e.said, "s-maxage"):
		return seconds(e.said, "s-maxage")
	case has(e.said, "max-age"):
		return seconds(e.said, "max-age")
	case e.said.Get("Expires") != "":
		expires, err := http.ParseTime(e.said.Get("Expires"))
		if err != nil {
			return 0
		}
		return max(expires.Sub(date), 0)
	case e.said.Get("Last-Modified") != "":
		modified, _ := http.ParseTime(e.said.Get("Last-Modified"))
		return date.Sub(modified) / 10
	}
	return 0
}

// forbids says why e must not answer the request from the store at the time now; empty if nothing forbids it (§4).
func (h *history) forbids(e *entry, asked http.Header, now time.Time) string {
	cc, age, lifetime := e.said, e.age(now), h.lifetime(e)
	switch {
	case !e.selects(asked):
		return "§4.1: it is not selected"
	case !h.shared && e.asked.Get("Authorization") != asked.Get("Authorization"):
		return "§7: other credentials"
	case !h.shared && (has(cc, "private") || !e.allowsOthers()) && !sameReader(e.asked, asked):
		return "§7: another reader's"
	case has(asked, "no-cache"), asked.Get("Cache-Control") == "" && asked.Get("Pragma") == "no-cache":
		return "§5.2.1.4: the request says no-cache"
	case has(cc, "no-cache"):
		return "§5.2.2.4: no-cache"
	case has(asked, "max-age") && age > seconds(asked, "max-age") && !has(asked, "max-stale"):
		return "§5.2.1.1: older than max-age of the request"
	case has(asked, "min-fresh") && lifetime-age < seconds(asked, "min-fresh"):
		return "§5.2.1.3: not min-fresh"
	case lifetime > age:
		return ""
	case has(cc, "must-revalidate"), h.shared && (has(cc, "proxy-revalidate") || has(cc, "s-maxage")):
		return "§4.2.4: stale, and must be validated"
	case has(asked, "max-stale") && age-lifetime <= seconds(asked, "max-stale"):
		return ""
	case age-lifetime < seconds(cc, "stale-while-revalidate"):
		return ""
	case h.failed:
		return ""
	}
	return fmt.Sprintf("§4.2: stale: lifetime %v, age %v", lifetime, age)
}

// ask sends a random request, and judges the answer. The caller holds mu.
func (h *history) ask(c *cache.Cache, path string) (hit bool) {
	n := h.rnd
	asked := http.Header{}
	set := func(name, value string) {
		if value != "" {
			asked.Set(name, value)
		}
	}
	set("Cache-Control", pick(n, "", "", "", "", "", "", "", "", "", "max-stale=20", "no-cache", "no-store", "max-age=5",
		"max-stale=20", "max-age=5, max-stale=20", "min-fresh=5", "only-if-cached"))
	set("Pragma", pick(n, "", "", "", "", "", "", "", "no-cache"))
	set("Authorization", pick(n, "", "", "", "one", "two"))
	set("Cookie", pick(n, "", "", "", "a=1", "a=2"))
	set("X-A", pick(n, "", "", "1", "2"))
	set("X-B", pick(n, "", "", "1"))
	set("Range", pick(n, "", "", "", "", "bytes=0-4", "bytes=2-3", "bytes=5-"))
	if n.IntN(6) == 0 {
		set("If-None-Match", strconv.Quote(strconv.Itoa(h.current)))
	}
	method := pick(n, "GET", "GET", "GET", "GET", "GET", "GET", "GET", "GET", "GET", "GET", "HEAD", "POST")
	req, _ := http.NewRequestWithContext(h.t.Context(), method, "http://origin.test/"+path, http.NoBody)
	req.Header = asked.Clone()
	h.failed, h.part = false, asked.Get("Range") != ""
	h.note("%s %v", method, asked)
	h.mu.Unlock()
	resp, err := c.RoundTrip(req)
	now := time.Now()
	var body []byte
	if err == nil {
		body, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	h.mu.Lock()
	if err != nil {
		h.note("= %v", err)
		return false
	}
	status := cache.OutcomeOf(resp).String()
	h.note("= %d %q %v %v", resp.StatusCode, body, resp.Header, err)
	id, _ := strconv.Atoi(resp.Header.Get("X-Id"))
	whole := content(id)
	if strings.Contains(status, "; detail=only-if-cached") || id == 0 || method == http.MethodPost {
		return false
	}
	if cr := resp.Header.Get("Content-Range"); resp.StatusCode == http.StatusPartialContent {
		var first, last int
		if n, _ := fmt.Sscanf(cr, "bytes %d-%d/10", &first, &last); n != 2 || last > 9 {
			h.fail("Content-Range %q", cr)
		}
		whole = whole[first : last+1]
	}
	if want := resp.StatusCode != http.StatusNotModified && method != http.MethodHead; want && string(body) != whole ||
		!want && len(body) > 0 {
		h.fail("the content is not that of representation %d", id)
	}
	if !strings.Contains(status, "; hit") {
		return false
	}
	if resp.StatusCode == http.StatusNotModified && asked.Get("If-None-Match") != resp.Header.Get("Etag") {
		h.fail("304 for a representation that the client does not name")
	}
	reasons := []string{"it is not stored, or was invalidated"}
	for _, e := range h.entries {
		if e.id == id {
			why := h.forbids(&e, asked, now)
			if why == "" {
				return true
			}
			reasons = append(reasons, why)
		}
	}
	h.fail("representation %d was served, which is forbidden: %q", id, reasons)
	return true
}

func (h *history) fail(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(h.log, "\n"))
}

// play plays one history, and returns how often the store answered.
func play(t *testing.T, st *store.Store, rnd *rand.Rand, private bool, path string, steps int) (hits int) {
	t.Helper()
	h := &history{t: t, rnd: rnd, shared: !private, current: 1}
	c := cache.New(cache.Options{Store: st, Next: h, Private: private, Log: slog.New(slog.DiscardHandler)})
	defer func() { _ = c.Close() }() // waits for validations in the background
	h.mu.Lock()
	defer h.mu.Unlock()
	for range steps {
		if h.ask(c, path) {
			hits++
		}
		h.sleep(4 + pick(rnd, 0, 0, 0, 1, 4, 30)) // in four seconds a validation in the background is done
	}
	return hits
}

func TestTheCacheNeverServesWhatTheModelForbids(t *testing.T) {
	const steps = 16
	histories := 60
	if needs.Brief() {
		histories = 15
	}
	for _, private := range []bool{false, true} {
		t.Run(fmt.Sprint("private ", private), func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				st, err := store.Open(store.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = st.Close() }()
				hits, seed := 0, rand.Uint64()
				if text := os.Getenv("READTHRU_MODEL_SEED"); text != "" {
					seed, err = strconv.ParseUint(text, 10, 64)
					if err != nil {
						t.Fatal(err)
					}
				}
				t.Logf("seed %d (READTHRU_MODEL_SEED plays it again)", seed)
				enough, played := histories*steps/40, 0
				for i := 0; i < histories || hits < enough && i < 4*histories; i++ { // some seeds have few hits
					played += steps
					hits += play(t, st, rand.New(rand.NewPCG(seed, uint64(i))), private, fmt.Sprint(i), steps)
				}
				if hits < enough {
					t.Errorf("%d hits in %d requests: the histories prove little", hits, played)
				}
				t.Logf("%d hits in %d requests", hits, played)
			})
		})
	}
}
