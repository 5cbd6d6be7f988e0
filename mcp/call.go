package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/clip"
)

// A tool is what an agent may call, as tools lists it and as Server.add registers it with the SDK.
type tool struct {
	name   string
	title  string
	about  string
	params []param
	// schema of the structured result: "name type" pairs, separated by commas; empty: the result is only text
	shape  string
	open   bool // it may reach the web
	writes bool
	adds   bool // the same call again adds more
	run    func(ctx context.Context, c *call) (*result, error)
}

// A call is one use of a tool by an agent: what the tool's function has at hand.
type call struct {
	server  *Server
	client  *api.Client
	args    arguments
	notes   []string // remarks for the caller beside the result
	session string
	agent   string
}

// note adds a remark for the model to the answer of a call, such as that an argument was clamped or that a copy is
// stale.
func (c *call) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// noted returns the notes of a call as lines to put before the text of its result or of its error.
func (c *call) noted() string {
	var b strings.Builder
	for _, n := range c.notes {
		b.WriteString("[" + n + "]\n")
	}
	return b.String()
}

// A result is what a tool's function returns: text for a model, and the same as a value for a program. The text of a
// page has no value: clients that show models the value instead of the text would show it escaped.
type result struct {
	text  string
	value map[string]any
	about map[string]any // facts of a page that is text, for programs: _meta
	bare  bool           // the text already has the notes
}

// add registers a tool with a server of the SDK. Each call waits for its turn, reads its arguments and gets a client
// before the tool's function runs. Every failure becomes a result with IsError, except for a panic, which survive
// catches.
func (s *Server) add(to *sdk.Server, t tool) {
	declared := &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.about, InputSchema: schema(t.params),
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: !t.writes, OpenWorldHint: &t.open},
	}
	if t.writes { // else these say nothing, and cost each agent tokens
		declared.Annotations.IdempotentHint, declared.Annotations.DestructiveHint = !t.adds, new(false)
	}
	if t.shape != "" {
		declared.OutputSchema = outputSchema(t.shape)
	}
	to.AddTool(declared, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		// The turn comes first: whatever a call needs, at most atOnce of them need it at the same time.
		ctx, done, err := s.begin(ctx, req)
		if err != nil {
			return failed(err, nil), nil
		}
		defer done()
		c := &call{server: s, session: s.o.Session, agent: agentOf(req)}
		// Over HTTP there is one server for all clients, so that the session of a run comes with each request.
		if req.Extra != nil && req.Extra.Header.Get("X-Readthru-Session") != "" {
			c.session = req.Extra.Header.Get("X-Readthru-Session")
		}
		if c.args, c.notes, err = read(req.Params.Arguments, t.params); err != nil {
			return failed(err, c), nil
		}
		if c.client, err = s.client(ctx); err != nil {
			return failed(err, c), nil
		}
		// The journal shows requests under the name that the client gives itself.
		c.client = c.client.For(c.agent)
		r, err := t.run(ctx, c)
		if err != nil {
			return failed(err, c), nil
		}
		return c.answer(r), nil
	})
}

// outputSchema returns the JSON Schema of the top level of the structured result of a call of a tool, from the pairs of
// tool.shape. It says nothing of what lists contain: each word of it is sent to every agent that lists the tools.
func outputSchema(shape string) json.RawMessage {
	properties := map[string]any{}
	for pair := range strings.SplitSeq(shape, ",") {
		name, kind, _ := strings.Cut(strings.TrimSpace(pair), " ")
		properties[name] = map[string]string{"type": kind}
	}
	b, _ := json.Marshal(map[string]any{"type": "object", "properties": properties})
	return b
}

// answer gives the result of a tool the form of the protocol: the notes and the text as content, the value as
// structured content, and facts of a page as metadata.
func (c *call) answer(r *result) *sdk.CallToolResult {
	text := r.text
	if !r.bare {
		text = c.noted() + text
	}
	res := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	if r.value != nil {
		if len(c.notes) > 0 {
			r.value["notes"] = c.notes
		}
		res.StructuredContent = r.value
	}
	if r.about != nil {
		res.Meta = sdk.Meta{"readthru/page": r.about}
	}
	return res
}

// maxErrorChars bounds the text of an error, in code points. It may contain a robots.txt.
const maxErrorChars = 12_000

// failed returns an error as the result of a call of a tool, since models do not see errors of the protocol. c may be
// nil if there are no notes yet.
func failed(err error, c *call) *sdk.CallToolResult {
	text := clip.Ellipsis(err.Error(), maxErrorChars)
	if c != nil {
		text = c.noted() + text
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: true}
}

// notFound reports whether the failure of an operation that a call needs is that a page or passage is not stored, for
// which tools tell the model to fetch it first.
func notFound(err error) bool {
	return api.CodeOf(err) == api.CodeNotFound
}

// stored returns what ask has of the stored page that a call names. The error of one that is not stored says so.
func stored[T any](ctx context.Context, c *call, ask func(ctx context.Context, ref string) (T, error)) (T, error) {
	ref, err := c.ref()
	if err != nil {
		return *new(T), err
	}
	got, err := ask(ctx, ref)
	if notFound(err) {
		err = notStored(ref)
	}
	return got, err
}

// notStored is the error of a call that names a page that is not stored.
func notStored(ref string) error {
	return fmt.Errorf("%s is not stored: fetch it first", clip.Line(ref, 300))
}

// begin waits for a place among the calls of tools that run (atOnce), and reports progress to the client until done,
// which must be called. The context that it returns ends with the HTTP request that carries the call. The error is the
// cause of that end; then there is nothing to call.
func (s *Server) begin(ctx context.Context, req *sdk.CallToolRequest) (_ context.Context, done func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	leave := untilGone(ctx, cancel)
	select {
	case s.running <- struct{}{}:
	case <-ctx.Done():
		leave()
		cancel()
		return nil, nil, context.Cause(ctx)
	}
	end := reportProgress(ctx, req)
	return ctx, func() {
		end()
		<-s.running
		leave()
		cancel()
	}, nil
}

// agentOf names the client of a call of a tool as it introduced itself, as "name/version". Over HTTP a client of the
// protocol before 2026-07-28 does that in another request than the call; then it is named by its User-Agent. Empty if
// there is neither. The name is foreign text, and is cut.
func agentOf(req *sdk.CallToolRequest) string {
	name := ""
	if info := req.ClientInfo(); info != nil && info.Name != "" {
		name = strings.TrimSuffix(info.Name+"/"+info.Version, "/")
	} else if extra := req.GetExtra(); extra != nil {
		name = extra.Header.Get("User-Agent")
	}
	return clip.Line(name, 100)
}

// survive recovers from a panic in a request of the protocol: one client's request must not end the daemon for all. The
// client gets an error, the log the stack.
func (s *Server) survive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if fault := recover(); fault != nil {
				s.o.Log.Error("mcp request failed", "mcp_method", method, "fault", fmt.Sprint(fault), "stack",
					string(debug.Stack()))
				res, err = nil, errors.New("internal error: see the log")
			}
		}()
		return next(ctx, method, req)
	}
}

// listed calls [Options.Listed] before the tools are listed, which is the first thing that an agent asks for.
func (s *Server) listed(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == "tools/list" && s.o.Listed != nil {
			s.o.Listed(ctx)
		}
		return next(ctx, method, req)
	}
}
