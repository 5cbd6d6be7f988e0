package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/api/server/pages"
	"github.com/readthru/readthru/page"
)

// URLResult is a fetched page (rule B36), as JSON-RPC answers it.
type URLResult struct {
	Content     *page.Page `json:"content"`
	Summary     string     `json:"summary,omitempty"`
	SummaryType string     `json:"summary_type,omitempty"`
	Cached      bool       `json:"cached"` // it came from the cache
}

// The codes of failures (JSON-RPC 2.0, section 5.1).
const (
	rpcParseError     = -32700
	rpcInvalidRequest = -32600
	rpcUnknownMethod  = -32601
	rpcInvalidParams  = -32602
	rpcInternalError  = -32603
	rpcNoPage         = -32000 // the page could not be fetched: data is the page object
)

// maxBatch is how many calls a batch holds at most.
const maxBatch = 50

// rpcMethod is a method of JSON-RPC. Its parameters come by name, or by position in the order given here.
type rpcMethod struct {
	params []string
	call   func(s *Server, ctx context.Context, c *rpcCall) (any, error)
}

// rpcMethods are the methods of rule B44.
var rpcMethods = map[string]rpcMethod{
	"LLM.detect_urls":          {[]string{"text"}, (*Server).rpcDetect},
	"LLM.fetch_url":            {[]string{"url", "use_cache", "summarize"}, (*Server).rpcFetch},
	"LLM.detect_and_fetch":     {[]string{"text", "use_cache", "summarize"}, (*Server).rpcDetectAndFetch},
	"LLM.get_url_content":      {[]string{"url"}, (*Server).rpcContent},
	"LLM.remove_fetched_url":   {[]string{"url"}, (*Server).rpcForget},
	"LLM.invalidate_url_cache": {[]string{"url"}, (*Server).rpcInvalidate},
	"LLM.clear_url_cache":      {nil, (*Server).rpcClear},
}

// rpcCall holds the parameters of a JSON-RPC call that are not taken yet, and the request that carries the call.
type rpcCall struct {
	params  map[string]json.RawMessage
	request *http.Request
}

// take moves a parameter of a JSON-RPC call into v. The error says that it is missing or has the wrong type.
func (c *rpcCall) take(name string, v any, required bool) error {
	raw, there := c.params[name]
	delete(c.params, name)
	if !there || string(raw) == "null" {
		if required {
			return &api.RpcError{Code: rpcInvalidParams, Message: "parameter " + name + " is missing"}
		}
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return &api.RpcError{
			Code:    rpcInvalidParams,
			Message: fmt.Sprintf("parameter %s: %s", name, strings.TrimPrefix(err.Error(), "json: ")),
		}
	}
	return nil
}

// session takes the session that a JSON-RPC call names, or else its request.
func (c *rpcCall) session() (name string, err error) {
	name = c.request.Header.Get("X-Readthru-Session")
	return name, c.take("session", &name, false)
}

// done returns an error for parameters that were not taken: a misspelt one must not be ignored.
func (c *rpcCall) done() error {
	for _, name := range slices.Sorted(maps.Keys(c.params)) {
		return &api.RpcError{Code: rpcInvalidParams, Message: fmt.Sprintf("unknown parameter %q", name)}
	}
	return nil
}

// one takes the parameter of a method that has only one, and the session.
func (c *rpcCall) one(name string) (value, session string, err error) {
	if err = c.take(name, &value, true); err == nil {
		session, err = c.session()
	}
	if err == nil {
		err = c.done()
	}
	return value, session, err
}

// fetchRequest takes the parameters of a fetch: use_cache and summarize (rule B7), and those that a fetch over HTTP
// takes, by name.
func (c *rpcCall) fetchRequest() (api.FetchRequest, error) {
	useCache, summarize := true, false
	var r api.FetchRequest
	if err := errors.Join(c.take("use_cache", &useCache, false), c.take("summarize", &summarize, false)); err != nil {
		return r, err
	}
	rest, err := json.Marshal(c.params)
	if err != nil {
		return r, err
	}
	dec := json.NewDecoder(bytes.NewReader(rest))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return r, &api.RpcError{Code: rpcInvalidParams, Message: "parameters: " + strings.TrimPrefix(err.Error(), "json: ")}
	}
	if !useCache {
		r.Force = true
	}
	if summarize && r.Summary == "" {
		r.Summary = "auto"
	}
	r.Agent = c.request.UserAgent()
	r.Session = cmp.Or(r.Session, c.request.Header.Get("X-Readthru-Session"))
	return r, nil
}

// rpcDetect finds the URLs in a text (LLM.detect_urls).
func (s *Server) rpcDetect(ctx context.Context, c *rpcCall) (any, error) {
	text, _, err := c.one("text")
	if err != nil {
		return nil, err
	}
	d, err := s.pages.DetectURLs(ctx, api.TextRequest{Text: text})
	if err != nil {
		return nil, err
	}
	return d.URLs, nil
}

// rpcFetch fetches a page (LLM.fetch_url). A page that cannot be fetched is an error whose data is the page object.
func (s *Server) rpcFetch(ctx context.Context, c *rpcCall) (any, error) {
	var raw string
	if err := c.take("url", &raw, true); err != nil {
		return nil, err
	}
	r, err := c.fetchRequest()
	if err != nil {
		return nil, err
	}
	r.URL = raw
	p, err := s.pages.FetchPage(ctx, r)
	if err != nil {
		return nil, err
	}
	if p.Error != nil {
		return nil, noPage(p)
	}
	return s.result(p), nil
}

// rpcDetectAndFetch fetches all URLs of a text, at most 50 (rule B9).
func (s *Server) rpcDetectAndFetch(ctx context.Context, c *rpcCall) (any, error) {
	r := api.DetectRequest{Limit: pages.MaxTextURLs}
	if err := errors.Join(c.take("text", &r.Text, true), c.take("limit", &r.Limit, false)); err != nil {
		return nil, err
	}
	var err error
	if r.FetchRequest, err = c.fetchRequest(); err != nil {
		return nil, err
	}
	t, err := s.pages.DetectAndFetch(ctx, r)
	if err != nil {
		return nil, err
	}
	list := make([]*URLResult, len(t.Pages))
	for i, p := range t.Pages {
		list[i] = s.result(p)
	}
	return list, nil
}

// rpcContent returns a page that the session has fetched, or that the cache has (LLM.get_url_content, rule B38).
func (s *Server) rpcContent(ctx context.Context, c *rpcCall) (any, error) {
	raw, session, err := c.one("url")
	if err != nil {
		return nil, err
	}
	p, err := s.pages.GetContextPage(ctx, api.ContextRef{Session: session, URL: raw})
	if err != nil {
		return nil, err
	}
	if p.Error != nil {
		return nil, noPage(p)
	}
	return p, nil
}

// rpcForget takes a page out of what the session has fetched (LLM.remove_fetched_url); the cache keeps it.
func (s *Server) rpcForget(ctx context.Context, c *rpcCall) (any, error) {
	raw, session, err := c.one("url")
	if err != nil {
		return nil, err
	}
	gone, err := s.pages.ForgetPages(ctx, api.ForgetQuery{Session: session, URL: &raw})
	if err != nil {
		return nil, err
	}
	return found{gone.Removed > 0}, nil
}

// rpcInvalidate removes a page from the cache and from what sessions have fetched (LLM.invalidate_url_cache, rule B40).
// It needs the role of the operation that does the same.
func (s *Server) rpcInvalidate(ctx context.Context, c *rpcCall) (any, error) {
	raw, _, err := c.one("url")
	if err == nil {
		err = asker.May(ctx, api.Uncache.Operation)
	}
	if err != nil {
		return nil, err
	}
	gone, err := s.pages.Uncache(ctx, api.Selection{URL: raw})
	if err != nil {
		return nil, err
	}
	return found{gone.Removed+gone.Fetched > 0}, nil
}

// rpcClear empties the cache and what sessions have fetched (LLM.clear_url_cache, rule B41).
func (s *Server) rpcClear(ctx context.Context, c *rpcCall) (any, error) {
	if err := cmp.Or(c.done(), asker.May(ctx, api.ClearCache.Operation)); err != nil {
		return nil, err
	}
	gone, err := s.pages.ClearCache(ctx, api.None{})
	if err != nil {
		return nil, err
	}
	return cleared{gone.Removed, gone.Fetched}, nil
}

// found is the answer of a JSON-RPC method that removes a page: whether there was something to remove.
type found struct {
	Found bool `json:"found"`
}

// cleared is the answer of LLM.clear_url_cache: how many stored responses, and how many pages of sessions, were
// removed.
type cleared struct {
	Count   int `json:"count"`
	Fetched int `json:"fetched"`
}

// noPage is the error of a fetch that failed: its data is the page object.
func noPage(p *page.Page) error {
	return &api.RpcError{Code: rpcNoPage, Message: p.Error.Message, Data: p}
}

// result returns a page as JSON-RPC answers it, with its stored summary (rule B6).
func (s *Server) result(p *page.Page) *URLResult {
	if p.Error == nil {
		s.pages.Summarised(p)
	}
	return &URLResult{Content: p, Summary: p.Summary, SummaryType: p.SummaryType, Cached: p.FromCache}
}

// serveRPC answers JSON-RPC 2.0: a call, a notification, or a batch of both, one after the other. A batch's responses
// are written as they come.
func (s *Server) serveRPC(w http.ResponseWriter, r *http.Request, _ api.None) error {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	b = bytes.TrimSpace(b)
	if !json.Valid(b) {
		return api.Answer(w, failed(nil, &api.RpcError{Code: rpcParseError, Message: "the content is not JSON"}))
	}
	if b[0] != '[' {
		resp := s.call(r, b)
		if resp == nil {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return api.Answer(w, resp)
	}
	var calls []json.RawMessage
	_ = json.Unmarshal(b, &calls) // it is valid, and an array
	if len(calls) == 0 || len(calls) > maxBatch {
		return api.Answer(w, failed(nil,
			&api.RpcError{Code: rpcInvalidRequest, Message: fmt.Sprintf("a batch holds 1 to %d calls, not %d", maxBatch,
				len(calls))}))
	}
	s.batch(w, r, calls)
	return nil
}

// batch answers the calls of a JSON-RPC batch, one after the other. Nothing is written when all are notifications. Each
// answer is written as it comes, so that a batch of large pages is not held in memory.
func (s *Server) batch(w http.ResponseWriter, r *http.Request, calls []json.RawMessage) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	begun := false
	for _, one := range calls {
		if r.Context().Err() != nil {
			return // the client has gone
		}
		resp := s.call(r, one)
		if resp == nil {
			continue
		}
		separator := ","
		if !begun {
			w.Header().Set("Content-Type", "application/json")
			separator = "["
		}
		begun = true
		_, _ = io.WriteString(w, separator) // an error is a client that has gone: the context tells
		_ = enc.Encode(resp)
	}
	if !begun {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	_, _ = io.WriteString(w, "]\n")
}

// call answers one JSON-RPC call; nil for a notification.
func (s *Server) call(r *http.Request, raw json.RawMessage) *api.RpcResponse {
	var members map[string]json.RawMessage // names are compared exactly
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return failed(nil, &api.RpcError{Code: rpcInvalidRequest, Message: "a call must be a JSON object"})
	}
	id, answered := members["id"]
	if answered && !validID(id) {
		return failed(nil, &api.RpcError{Code: rpcInvalidRequest, Message: "id must be a string, a number or null"})
	}
	var version, name string
	if json.Unmarshal(members["jsonrpc"], &version) != nil || version != "2.0" {
		return failed(id, &api.RpcError{Code: rpcInvalidRequest, Message: `jsonrpc is not "2.0"`})
	}
	if json.Unmarshal(members["method"], &name) != nil || string(members["method"]) == "null" {
		return failed(id, &api.RpcError{Code: rpcInvalidRequest, Message: "method must be a string"})
	}
	if p := members["params"]; len(p) > 0 && p[0] != '{' && p[0] != '[' && string(p) != "null" {
		return failed(id, &api.RpcError{Code: rpcInvalidRequest, Message: "params must be an object or an array"})
	}
	result, err := s.invoke(r, name, members["params"])
	switch {
	case !answered:
		return nil
	case err != nil:
		return failed(id, err)
	}
	return &api.RpcResponse{Version: "2.0", Result: result, ID: id}
}

// invoke calls a JSON-RPC method with parameters by position or name, and returns its result in JSON.
func (s *Server) invoke(r *http.Request, name string, params json.RawMessage) (json.RawMessage, error) {
	m, known := rpcMethods[name]
	if !known {
		return nil, &api.RpcError{Code: rpcUnknownMethod, Message: fmt.Sprintf("unknown method %.100q", name)}
	}
	c := &rpcCall{params: map[string]json.RawMessage{}, request: r}
	if len(params) > 0 && params[0] == '[' {
		var list []json.RawMessage
		_ = json.Unmarshal(params, &list) // it is valid, and an array
		if len(list) > len(m.params) {
			return nil, &api.RpcError{
				Code:    rpcInvalidParams,
				Message: fmt.Sprintf("%s takes at most %d parameters by position", name, len(m.params)),
			}
		}
		for i, value := range list {
			c.params[m.params[i]] = value
		}
	} else if len(params) > 0 && params[0] == '{' {
		_ = json.Unmarshal(params, &c.params) // it is valid, and an object
	}
	result, err := m.call(s, r.Context(), c)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(result); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// validID reports whether a JSON-RPC call may have this id: a string, a number or null.
func validID(id json.RawMessage) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9' || string(id) == "null")
}

// failed is the response to a JSON-RPC call that failed. An invalid request of the operation is an error in the
// parameters.
func failed(id json.RawMessage, err error) *api.RpcResponse {
	e, ok := errors.AsType[*api.RpcError](err)
	if !ok {
		e = &api.RpcError{Code: rpcInternalError, Message: err.Error()}
		if api.AsError(err).Code == api.CodeInvalid {
			e.Code = rpcInvalidParams
		}
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	return &api.RpcResponse{Version: "2.0", Err: e, ID: id}
}
