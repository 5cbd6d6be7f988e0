package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fault/faulttest"
)

// raw is a session whose messages a test writes itself.
type raw struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Reader
	closer io.Closer // of out
	end    chan error
}

func (w *world) raw(t *testing.T) *raw {
	t.Helper()
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	r := &raw{t: t, in: in, out: bufio.NewReader(out), closer: out, end: make(chan error, 1)}
	go func() {
		r.end <- w.server.Serve(context.Background(), toServer, fromServer)
		_ = fromServer.Close()
	}()
	t.Cleanup(func() { _ = in.Close() })
	return r
}

func (r *raw) send(line string) {
	r.t.Helper()
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		r.t.Fatal(err)
	}
}

// answer is a message from the server.
type answer struct {
	ID     any
	Result map[string]any
	Error  *struct {
		Code    int
		Message string
	}
}

func (r *raw) receive() answer {
	r.t.Helper()
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		r.t.Fatalf("%s: %v", line, err)
	}
	return a
}

const (
	initialize  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"VERSION","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func TestMessagesThatCannotBeReadEndNothing(t *testing.T) {
	r := newWorld(t, nil).raw(t)
	r.send(strings.Replace(initialize, "VERSION", "2025-06-18", 1))
	if a := r.receive(); a.Result["protocolVersion"] != "2025-06-18" ||
		a.Result["capabilities"].(map[string]any)["logging"] != nil {
		t.Errorf("initialize: %+v", a)
	}
	r.send(initialized)
	for _, tt := range []struct {
		line string
		code int
	}{
		{`{"jsonrpc":"2.0","id":2,"method":`, -32700},
		{`not json at all`, -32700},
		{"\x00\xff\xfe", -32700},
		{`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, -32600},
		{`{"hello":"world"}`, -32600},
		{`17`, -32600},
		{`[{"jsonrpc":"2.0","id":3,"method":"ping"}]`, -32600},
		{strings.Repeat("[", 100_000), -32600},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"` + strings.Repeat("x", 5<<20) + `"}}`, -32600},
		{`{"jsonrpc":"2.0","id":5,"method":"no/such/method"}`, -32601},
		{`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"no_such_tool"}}`, -32602},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":17}`, -32602},
		{`{"jsonrpc":"2.0","id":8,"method":"prompts/get","params":{"name":"fetch"}}`, -32602},
	} {
		r.send(tt.line)
		if a := r.receive(); a.Error == nil || a.Error.Code != tt.code {
			t.Errorf("%.80s: %+v, want error %d", tt.line, a, tt.code)
		}
	}
	r.send("")
	id := strings.Repeat("7", 1000)
	r.send(`{"jsonrpc":"2.0","id":"` + id + `","method":"ping"}`)
	if a := r.receive(); a.Error != nil || a.ID != id {
		t.Errorf("ping afterwards: %+v", a)
	}
	_ = r.in.Close()
	if err := <-r.end; err != nil {
		t.Errorf("serve: %v", err)
	}
}

// A client that calls ten thousand times without waiting, and sends arguments of 100 MB, gets an answer to each call,
// and costs no more memory than a message may have.
func TestAHostileClientIsBounded(t *testing.T) {
	const calls, huge = 10_000, 100 << 20
	r := newWorld(t, nil).raw(t)
	r.send(strings.Replace(initialize, "VERSION", "2025-06-18", 1))
	r.receive()
	r.send(initialized)
	sent := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < calls && err == nil; i++ {
			_, err = fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read_section","arguments":{"url":%d}}}`+"\n", i, i)
		}
		sent <- err
	}()
	answered := map[any]bool{}
	for range calls {
		answered[r.receive().ID] = true
	}
	if err := <-sent; err != nil || len(answered) != calls {
		t.Fatalf("%d of %d calls were answered: %v", len(answered), calls, err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	go func() {
		part := bytes.Repeat([]byte("x"), 1<<20)
		_, err := io.WriteString(r.in, `{"jsonrpc":"2.0","id":"huge","method":"tools/call","params":{"name":"fetch","arguments":{"url":"`)
		for range huge / len(part) {
			if err == nil {
				_, err = r.in.Write(part)
			}
		}
		if err == nil {
			_, err = io.WriteString(r.in, `"}}}`+"\n")
		}
		sent <- err
	}()
	if a := r.receive(); a.Error == nil || a.Error.Code != -32600 {
		t.Errorf("%+v, want error -32600", a)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > huge/4 {
		t.Errorf("%d MB were allocated for a message of %d", (after.TotalAlloc-before.TotalAlloc)>>20, huge>>20)
	}
	_ = r.in.Close()
	if err := <-r.end; err != nil {
		t.Errorf("serve: %v", err)
	}
}

func TestCallsThatRunWhenTheInputEndsAreAnswered(t *testing.T) {
	r := newWorld(t, nil).raw(t)
	r.send(strings.Replace(initialize, "VERSION", "2024-11-05", 1))
	r.receive()
	r.send(initialized)
	r.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fetch","arguments":{"url":"https://example.com/guide"}}}`)
	_ = r.in.Close()
	if a := r.receive(); a.ID != 2.0 || !strings.Contains(toJSON(t, a.Result), "Contents of https://example.com/guide") {
		t.Errorf("answer %+v, want the page", a)
	}
	if err := <-r.end; err != nil {
		t.Errorf("serve: %v", err)
	}
}

func TestAClientThatStopsReadingEndsTheSessionWithoutError(t *testing.T) {
	w := newWorld(t, nil)
	for range 200 { // the end of the input and the failure of the answer race
		r := w.raw(t)
		r.send(strings.Replace(initialize, "VERSION", "2025-06-18", 1))
		r.receive()
		r.send(initialized)
		r.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		_ = r.closer.Close()
		_ = r.in.Close()
		if err := <-r.end; err != nil {
			t.Fatalf("serve: %v, want nil", err)
		}
	}
}

func TestARequestOfTheNewProtocolNeedsNoHandshake(t *testing.T) {
	r := newWorld(t, nil).raw(t)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	r.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`)
	if a := r.receive(); a.Error != nil || !strings.Contains(toJSON(t, a.Result["supportedVersions"]), "2026-07-28") ||
		a.Result["resultType"] != "complete" {
		t.Errorf("discover: %+v", a)
	}
	r.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + meta + `}}`)
	if a := r.receive(); a.Error != nil || a.Result["cacheScope"] != "public" || a.Result["ttlMs"] == nil {
		t.Errorf("tools: %+v", a)
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestACallThatIsCancelledEnds(t *testing.T) {
	w := newWorld(t, nil)
	s := w.connect(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.CallTool(ctx, &sdk.CallToolParams{
			Name:      "fetch",
			Arguments: map[string]any{"url": "https://example.com/slow"},
		})
		done <- err
	}()
	<-w.came
	cancel()
	if err := <-done; err == nil {
		t.Error("a call that was cancelled succeeded")
	}
	<-w.left
	w.end <- struct{}{}
}

func TestASlowCallReportsProgress(t *testing.T) {
	w := newWorld(t, nil)
	heard := make(chan *sdk.ProgressNotificationParams, 100)
	s := w.connect(t, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context,
		req *sdk.ProgressNotificationClientRequest,
	) {
		heard <- req.Params
	}})
	params := &sdk.CallToolParams{Name: "fetch", Arguments: map[string]any{"url": "https://example.com/slow"}}
	params.SetProgressToken("token")
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = s.CallTool(t.Context(), params)
	}()
	first, second := <-heard, <-heard
	if first.ProgressToken != "token" || first.Message != "fetch is running" || second.Progress <= first.Progress {
		t.Errorf("progress %+v and %+v, want it to grow", first, second)
	}
	w.end <- struct{}{}
	<-done
}

// A session whose reading panics ends, and says so.
func TestASessionWhoseReadingPanicsEnds(t *testing.T) {
	faulttest.Once(t, "mcp: read messages")
	r := newWorld(t, nil).raw(t)
	if err := <-r.end; !fault.Is(err) {
		t.Errorf("serve: %v, want the fault", err)
	}
}

// A call whose progress cannot be told is answered all the same.
func TestACallWhoseProgressPanicsIsAnswered(t *testing.T) {
	injected := faulttest.Once(t, "mcp: report progress")
	w := newWorld(t, nil)
	s := w.connect(t, nil)
	params := &sdk.CallToolParams{Name: "fetch", Arguments: map[string]any{"url": "https://example.com/slow"}}
	params.SetProgressToken("token")
	done := make(chan error, 1)
	go func() {
		_, err := s.CallTool(t.Context(), params)
		done <- err
	}()
	injected.Await()
	w.end <- struct{}{}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
