package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/readthru/readthru/internal/journal"
)

// call asks for an operation and reads its JSON answer.
func call[In, Out any](ctx context.Context, c *Client, o typed[In, Out], in In) (*Out, error) {
	var content io.Reader
	if o.Body != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(b)
	}
	return read[Out](c.do(ctx, o.Operation, in, content)) //nolint:bodyclose // read closes it
}

// open asks for an operation whose answer is not JSON, or whose content is not. The caller closes the answer's body.
func open[In any](ctx context.Context, c *Client, o streamed[In], in In, content io.Reader) (*http.Response, error) {
	resp, err := c.do(ctx, o.Operation, in, content)
	if err == nil && resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, refusal(resp)
	}
	return resp, err
}

// download asks for an operation and writes its answer to w.
func download[In any](ctx context.Context, c *Client, o streamed[In], in In, w io.Writer) error {
	resp, err := open(ctx, c, o, in, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("%s: %w", o.Summary, err)
	}
	return nil
}

// whileOpen asks for a session's proxy, calls opened with its address, and copies the answer to w until it ends.
func whileOpen[In any](ctx context.Context, c *Client, o streamed[In], in In, w io.Writer,
	opened func(addr string),
) error {
	resp, err := open(ctx, c, o, in, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	opened(resp.Header.Get(ProxyField))
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("proxy of a session: %w", err)
	}
	return nil
}

// do sends the request of an operation. An answer that is a failure is an error; a JSON answer is not, whatever its
// status. The caller closes the response.
func (c *Client) do(ctx context.Context, o *Operation, in any, content io.Reader) (*http.Response, error) {
	fields := http.Header{"User-Agent": {c.agent}}
	target, err := o.In.encode(in, o.Path, fields)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, o.Method, c.base+target, content)
	if err != nil {
		return nil, err
	}
	req.Header = fields
	if c.door != "" {
		req.Header.Set(DoorField, c.door)
	}
	if o.Method == http.MethodPost {
		req.Header.Set("Content-Type", o.Content)
		if o.Body == nil && content != nil { // which may be long: a refusal comes before it
			req.Header.Set("Expect", "100-continue")
		}
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err
		}
		if c.daemon != "" {
			err = fmt.Errorf("ask the daemon at %s: %w", c.daemon, err)
		}
		return nil, err
	}
	if resp.StatusCode != http.StatusOK && resp.Header.Get("Content-Type") != "application/json" {
		defer resp.Body.Close()
		return nil, refusal(resp)
	}
	return resp, nil
}

// read reads a JSON answer and closes it.
func read[T any](resp *http.Response, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	v := new(T)
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return v, nil
}

// refusal reads a problem document.
func refusal(resp *http.Response) error {
	e := NewError(resp.StatusCode, statusCodes[resp.StatusCode], "")
	if err := json.NewDecoder(io.LimitReader(resp.Body, MaxRequest)).Decode(e); err != nil || e.Detail == "" {
		e.Detail = "the daemon answered " + resp.Status
	}
	return e
}

// DoorField is the field by which a client of ours says by which door its reader came.
const DoorField = "X-Readthru-Door"

// ProxyField has the address of a session's proxy.
const ProxyField = "X-Readthru-Proxy"

// Doors by which the readers of a [Client] come.
const (
	DoorMCP       = journal.DoorMCP
	DoorCommand   = journal.DoorCommand
	DoorDashboard = journal.DoorDashboard
)
