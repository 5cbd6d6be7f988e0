package cache

import (
	"context"
	"net/http/httptrace"
	"net/textproto"
	"sync"
)

// A detached context keeps the values of a client's request and outlives it. Of the client's [httptrace.ClientTrace] it
// keeps only the hook for interim responses. It stops calling the hook once the client has its answer or has left,
// because the hook may write to a connection that is closed by then.
type detached struct {
	context.Context
	trace *httptrace.ClientTrace

	mu   sync.Mutex
	hook func(code int, header textproto.MIMEHeader) error // nil after leave
}

// detach returns a context detached from the traces of the request of ctx, for a flight.
func detach(ctx context.Context) *detached {
	d := &detached{Context: context.WithoutCancel(ctx)}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil {
		d.hook = trace.Got1xxResponse
	}
	d.trace = &httptrace.ClientTrace{Got1xxResponse: d.interim}
	return d
}

// Value returns the value of the client's context, with our trace in place of its own: the transport calls that.
func (d *detached) Value(key any) any {
	v := d.Context.Value(key)
	if _, ok := v.(*httptrace.ClientTrace); ok {
		return d.trace
	}
	return v
}

// interim passes, by the client's trace, an interim response to the client, unless it has left.
func (d *detached) interim(code int, header textproto.MIMEHeader) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hook == nil {
		return nil
	}
	return d.hook(code, header)
}

// leave removes the hook of the client's trace: when leave returns, the hook is not running and will not run again.
func (d *detached) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hook = nil
}
