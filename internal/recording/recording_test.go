package recording_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/readthru/readthru/internal/recording"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask is a request with the handler that answers it.
type ask struct {
	method, url, content string
	header               http.Header
	answer               http.HandlerFunc
}

// take records the answers to asks in order and returns the recording.
func take(t *testing.T, asks ...ask) []byte {
	t.Helper()
	var out bytes.Buffer
	w := recording.NewWriter(&out, "readthru/test")
	for _, a := range asks {
		r := a.request()
		x := w.Begin(httptest.NewRecorder(), r, a.url)
		a.answer(x, r)
		_, _ = io.Copy(io.Discard, r.Body)
		x.End(false)
	}
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (a ask) request() *http.Request {
	r := httptest.NewRequestWithContext(context.Background(), cmp.Or(a.method, http.MethodGet), "http://unused.test/",
		strings.NewReader(a.content))
	r.ContentLength = int64(len(a.content))
	if a.header != nil {
		r.Header = a.header.Clone()
	}
	return r
}

// open opens the recording with these bytes.
func open(t *testing.T, text []byte) (*recording.Recording, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "recording")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(name)
	if err == nil {
		t.Cleanup(func() { _ = r.Close() })
	}
	return r, err
}

func mustOpen(t *testing.T, text []byte) *recording.Recording {
	t.Helper()
	r, err := open(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// replay returns the recorded answer to a as text: status, fields, trailer and content.
func replay(t *testing.T, r *recording.Recording, a ask) (string, error) {
	t.Helper()
	resp, err := r.Respond(a.request(), a.url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.Status, " ", resp.Header, " ", resp.Trailer, " ", string(body)), err
}

func body(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

func TestRecordedAnswersAreReplayed(t *testing.T) {
	random := make([]byte, 3<<20+7)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	umlauts := strings.Repeat("ä€😀x", 90_000) // parts end within characters
	for name, a := range map[string]ask{
		"text": {url: "http://a.test/", answer: body("# Title\n\n<b> & \u2028 \"quoted\"\x00\n")},
		"nothing": {url: "http://a.test/", answer: func(w http.ResponseWriter,
			_ *http.Request,
		) {
			w.WriteHeader(http.StatusNoContent)
		}},
		"long bytes":  {url: "http://a.test/", answer: body(string(random))},
		"long text":   {url: "http://a.test/", answer: body(umlauts)},
		"half a rune": {url: "http://a.test/", answer: body("tail \xe2\x82")},
		"HEAD": {method: http.MethodHead, url: "http://a.test/", answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "12")
			w.WriteHeader(http.StatusOK)
		}},
		"POST": {
			method: http.MethodPost, url: "http://a.test/", content: "k=v",
			answer: func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) },
		},
		"prefix form": {url: "/https://a.test/", answer: body("x")},
		"with cookies": {url: "http://a.test/", answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Add("Set-Cookie", "a=b")
			w.Header().Add("Set-Cookie", "c=d")
			w.WriteHeader(http.StatusNotFound)
		}},
		"trailers": {url: "http://a.test/", answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "Sum, Grpc-Status")
			_, _ = io.WriteString(w, "x")
			w.Header().Set("Sum", "1")
			w.Header().Set(http.TrailerPrefix+"Late", "2")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			seen := httptest.NewRecorder()
			a.answer(seen, a.request())
			want := seen.Result()
			defer want.Body.Close()
			content, _ := io.ReadAll(want.Body)
			want.Header.Del("Trailer")

			resp, err := mustOpen(t, take(t, a)).Respond(a.request(), a.url)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes, %v, want the %d that were answered", len(got), err, len(content))
			}
			delete(want.Header, "Content-Type") // the recorder's guess
			if resp.StatusCode != want.StatusCode || fmt.Sprint(resp.Header) != fmt.Sprint(want.Header) ||
				len(resp.Trailer) != 0 && fmt.Sprint(resp.Trailer) != "map[Late:[2] Sum:[1]]" {
				t.Errorf("got %d %v %v, want %d %v %v", resp.StatusCode, resp.Header, resp.Trailer, want.StatusCode, want.Header,
					want.Trailer)
			}
		})
	}
}

func TestInterimAnswersAreNotRecorded(t *testing.T) {
	a := ask{url: "http://a.test/", answer: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		w.WriteHeader(http.StatusTeapot)
	}}
	if got, err := replay(t, mustOpen(t, take(t, a)), a); err != nil || got != "418 I'm a teapot map[] map[] " {
		t.Errorf("got %q, %v, want the teapot alone", got, err)
	}
}

func TestEqualRequestsGetTheirAnswersInOrder(t *testing.T) {
	a := func(text string) ask { return ask{url: "http://a.test/n", answer: body(text)} }
	r := mustOpen(t, take(t, a("one"), ask{url: "http://a.test/other", answer: body("other")}, a("two"), a("one")))
	for i, want := range []string{"one", "two", "one", "one", "one"} {
		if got, err := replay(t, r, a("")); err != nil || !strings.HasSuffix(got, " "+want) {
			t.Errorf("answer %d: %q, %v, want %q", i, got, err, want)
		}
	}
	if o := r.Outcome(); o.Answered != 5 || o.Misses != 0 {
		t.Errorf("outcome %+v, want 5 answered", o)
	}
}

func TestBodyOfSeveralAnswersIsWrittenOnce(t *testing.T) {
	text := take(t, ask{url: "http://a.test/1", answer: body("the same")},
		ask{url: "http://a.test/2", answer: body("the same")})
	if n := bytes.Count(text, []byte("the same")); n != 1 {
		t.Errorf("the body stands %d times, want once:\n%s", n, text)
	}
}

// TestMissingAnswerSaysHowTheRequestDiffers also tests what identifies a request.
func TestMissingAnswerSaysHowTheRequestDiffers(t *testing.T) {
	recorded := ask{
		method: http.MethodPost, url: "http://a.test/x", content: "k=v", answer: body("yes"),
		header: http.Header{
			"Accept": {"text/html"}, "User-Agent": {"curl/7"}, "Authorization": {"Bearer ALICE"},
			"Cookie": {"sid=1"}, "X-Readthru-Session": {"s1"},
		},
	}
	text := take(t, recorded)
	if bytes.Contains(text, []byte("ALICE")) || bytes.Contains(text, []byte("sid=1")) {
		t.Errorf("credentials are in the recording:\n%s", text)
	}
	r := mustOpen(t, text)
	other := func(f func(*ask)) ask {
		a := recorded
		a.header = recorded.header.Clone()
		f(&a)
		return a
	}
	for name, tt := range map[string]struct {
		a   ask
		why string // empty if it is answered
	}{
		"the same":     {recorded, ""},
		"another tool": {other(func(a *ask) { a.header.Set("User-Agent", "curl/8") }), ""},
		"other credentials": {
			other(func(a *ask) { a.header.Set("Authorization", "Bearer BOB"); a.header.Del("Cookie") }),
			"",
		},
		"another session": {other(func(a *ask) { a.header.Set("X-Readthru-Session", "s2") }), ""},
		"another form": {
			other(func(a *ask) { a.header.Set("Accept", "*/*") }),
			`recorded with Accept: "text/html", now requested with "*/*"`,
		},
		"a form of our own": {
			other(func(a *ask) { a.header.Set("X-Readthru-Mode", "text") }),
			`recorded with X-Readthru-Mode: none, now requested with "text"`,
		},
		"a part": {
			other(func(a *ask) { a.header.Set("Range", "bytes=0-1") }),
			`recorded with Range: none, now requested with "bytes=0-1"`,
		},
		"other content": {other(func(a *ask) { a.content = "k=w" }), "the request's content differs"},
		"no content":    {other(func(a *ask) { a.content = "" }), "the request's content differs"},
		"another method": {
			other(func(a *ask) { a.method = http.MethodPut }),
			"no request with this method and URL was recorded",
		},
		"another page": {
			other(func(a *ask) { a.url = "http://a.test/y" }),
			"no request with this method and URL was recorded",
		},
		"another page again": {
			other(func(a *ask) { a.url = "http://a.test/y" }),
			"no request with this method and URL was recorded",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := replay(t, r, tt.a)
			missed, is := errors.AsType[*recording.NotRecordedError](err)
			switch {
			case tt.why == "" && (err != nil || !strings.HasSuffix(got, "yes")):
				t.Errorf("got %q, %v, want it answered", got, err)
			case tt.why != "" && (!is || missed.Why != tt.why):
				t.Errorf("got %q, %v, want it missed: %s", got, err, tt.why)
			}
		})
	}
	if o := r.Outcome(); o.Misses != 8 || len(o.Missed) != 6 || o.Answered != 4 {
		t.Errorf("outcome %+v, want 8 misses, of which 6 differ, and 4 answers", o)
	}
}

func TestMultipartUploadsAreIdentifiedByTheirLength(t *testing.T) {
	form := func(boundary string) ask {
		return ask{
			method: http.MethodPost, url: "http://a.test/up", content: "--" + boundary + "\r\nfile\r\n--" + boundary + "--",
			answer: func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(w, "taken")
			},
			header: http.Header{"Content-Type": {"multipart/form-data; boundary=" + boundary}},
		}
	}
	r := mustOpen(t, take(t, form("aaaa")))
	if got, err := replay(t, r, form("bbbb")); err != nil || !strings.HasSuffix(got, "taken") {
		t.Errorf("with another boundary: %q, %v", got, err)
	}
	if _, err := replay(t, r, form("bbbbb")); err == nil {
		t.Error("a longer upload was answered")
	}
}

func TestAnswerThatEndedEarlyEndsEarlyAgain(t *testing.T) {
	var out bytes.Buffer
	w := recording.NewWriter(&out, "readthru/test")
	a := ask{url: "http://a.test/"}
	x := w.Begin(httptest.NewRecorder(), a.request(), a.url)
	x.Header().Set("Content-Length", "10")
	_, _ = io.WriteString(x, "half")
	x.End(true)
	never := w.Begin(httptest.NewRecorder(), a.request(), "http://a.test/never")
	never.End(true)
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, out.Bytes())
	resp, err := r.Respond(a.request(), a.url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); string(got) != "half" || !errors.Is(err, io.ErrUnexpectedEOF) ||
		resp.ContentLength != 10 {
		t.Errorf("got %q of %d, %v, want the half and an unexpected end", got, resp.ContentLength, err)
	}
	if _, err := replay(t, r, ask{url: "http://a.test/never"}); err == nil {
		t.Error("an answer that never began is in the recording")
	}
}

func TestCloseWaitsForRunningAnswers(t *testing.T) {
	var out bytes.Buffer
	w := recording.NewWriter(&out, "readthru/test")
	a := ask{url: "http://a.test/"}
	x := w.Begin(httptest.NewRecorder(), a.request(), a.url)
	closed := make(chan error)
	go func() { closed <- w.Close(t.Context()) }()
	_, _ = io.WriteString(x, "late")
	x.End(false)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	if w.Begin(httptest.NewRecorder(), a.request(), a.url) != nil {
		t.Error("an answer was begun after the end")
	}
	if got, err := replay(t, mustOpen(t, out.Bytes()), a); err != nil || !strings.HasSuffix(got, "late") {
		t.Errorf("got %q, %v", got, err)
	}

	w = recording.NewWriter(&out, "readthru/test")
	x = w.Begin(httptest.NewRecorder(), a.request(), a.url)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Close(gone); err == nil || !strings.Contains(err.Error(), "1 answers are still running") {
		t.Errorf("close: %v, want it told that an answer is missing", err)
	}
	x.End(false)
}

func TestConcurrentAnswersAreAllRecorded(t *testing.T) {
	var out bytes.Buffer
	w := recording.NewWriter(&out, "readthru/test")
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			a := ask{url: fmt.Sprintf("http://a.test/%d", i)}
			x := w.Begin(httptest.NewRecorder(), a.request(), a.url)
			_, _ = io.WriteString(x, strings.Repeat(fmt.Sprint(i), 100_000))
			x.End(false)
		})
	}
	wg.Wait()
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, out.Bytes())
	for i := range 50 {
		wg.Go(func() {
			want := strings.Repeat(fmt.Sprint(i), 100_000)
			if got, err := replay(t, r, ask{url: fmt.Sprintf("http://a.test/%d", i)}); err != nil ||
				!strings.HasSuffix(got, " "+want) {
				t.Errorf("answer %d: %d bytes, %v", i, len(got), err)
			}
		})
	}
	wg.Wait()
}

// full is a writer that accepts a number of bytes and then fails.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

func TestFailedRecordingIsReportedAndDoesNotDisturbAnswers(t *testing.T) {
	w := recording.NewWriter(&full{300}, "readthru/test")
	a := ask{url: "http://a.test/"}
	client := httptest.NewRecorder()
	x := w.Begin(client, a.request(), a.url)
	_, _ = io.WriteString(x, strings.Repeat("x", 1000))
	x.End(false)
	if err := w.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("close: %v, want the device's error", err)
	}
	if client.Body.Len() != 1000 {
		t.Errorf("the client got %d bytes, want 1000", client.Body.Len())
	}
	if err := recording.NewWriter(&full{0}, "readthru/test").Close(t.Context()); err == nil {
		t.Error("a recording ended well where nothing can be written")
	}
}

func TestDamagedRecordingsAreRefused(t *testing.T) {
	good := string(take(t, ask{url: "http://a.test/1", answer: body("first body")},
		ask{url: "http://a.test/2", answer: body("second body")}))
	lines := strings.SplitAfter(good, "\n")
	for name, tt := range map[string]struct{ text, why string }{
		"empty":        {"", "the recording is incomplete"},
		"no recording": {"<html></html>\n", "line 1: invalid character"},
		"another JSON": {"{\"a\":1}\n", `line 1: json: unknown field "a"`},
		"of the future": {
			strings.Replace(good, `"readthru_recording":1`, `"readthru_recording":2`, 1),
			"line 1: the recording has version 2; this program reads version 1",
		},
		"without its end":   {strings.Join(lines[:len(lines)-2], ""), "the recording is incomplete"},
		"half a line":       {good[:len(good)-3], "the recording is incomplete"},
		"without its start": {strings.Join(lines[1:], ""), "line 1: a recording has one header, in its first line"},
		"two starts":        {lines[0] + good, "line 2: a recording has one header, in its first line"},
		"more after it":     {good + "{}\n", "there is data after the last line"},
		"a line gone":       {lines[0] + strings.Join(lines[3:], ""), "found 1 exchanges and 1 bodies, want 2 and 2"},
		"a body gone":       {lines[0] + strings.Join(lines[2:], ""), "line 2: the answer to GET http://a.test/1 has body"},
		"a body changed":    {strings.Replace(good, "first body", "First body", 1), "line 3: body"},
		"a body twice":      {lines[0] + lines[1] + lines[2] + lines[1], "line 4: body"},
		"an odd status": {
			strings.Replace(good, `"status":200`, `"status":17`, 1),
			"line 3: the answer to GET http://a.test/1 has status 17",
		},
		"an empty line":   {lines[0] + "{}\n", "line 2: the line is neither body nor exchange nor end"},
		"an endless line": {lines[0] + strings.Repeat("x", 2<<20), "line 2 is longer than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := open(t, []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("got %v, want %q", err, tt.why)
			}
		})
	}
	if _, err := recording.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func FuzzOpenAnswersOrRefuses(f *testing.F) {
	f.Add([]byte(`{"readthru_recording":1}` + "\n" + `{"exchange":{"method":"GET","url":"http://a.test/","status":200}}` +
		"\n" + `{"end":{"exchanges":1,"bodies":0}}` + "\n"))
	f.Add([]byte(`{"readthru_recording":1}` + "\n" +
		`{"body":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881","text":"x"}` + "\n" +
		`{"end":{"exchanges":0,"bodies":1}}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := open(t, text)
		if err != nil {
			return
		}
		if _, err := replay(t, r, ask{url: "http://a.test/"}); err != nil &&
			!errors.As(err, new(*recording.NotRecordedError)) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a recording that opens does not answer: %v", err)
		}
	})
}
