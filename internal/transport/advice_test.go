package transport_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/internal/transport/transporttest"
)

// A connection that fails names the advice, unless no proxy would help: on this machine, at an address that
// upstream.resolve names, at a blocked address, at an endpoint of the operator.
func TestAFailedConnectionNamesTheAdvice(t *testing.T) {
	const advice = "set proxy.upstream"
	tr := transporttest.New(t, transport.Options{
		Advice: advice, Resolve: []string{"mapped.test:443=127.0.0.1:1"},
		Avoid: func() []netip.AddrPort { return []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")} },
	})
	tr.ResolveWith(&net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name server")
	}})
	own := transport.OwnPolicy(t.Context())
	operator := transport.Endpoint(t.Context(), &url.URL{Scheme: "https", Host: "far.test"})
	for _, tt := range []struct {
		name, addr string
		ctx        context.Context //nolint:containedctx // it has the policy
		want       bool
	}{
		{"of a client", "far.test:443", t.Context(), true},
		{"own", "far.test:443", own, true},
		{"to an endpoint", "far.test:443", operator, false},
		{"to a named address", "mapped.test:443", t.Context(), false},
		{"to this machine", "127.0.0.1:1", t.Context(), false},
		{"to a metadata service", "169.254.169.254:80", t.Context(), false},
	} {
		conn, err := tr.Dial(tt.ctx, "tcp", tt.addr)
		if err == nil {
			_ = conn.Close()
			t.Errorf("%s: %s is connected", tt.name, tt.addr)
			continue
		}
		text := fetch.Explain(&url.URL{Scheme: "https", Host: tt.addr}, err).Error()
		if strings.Contains(text, advice) != tt.want {
			t.Errorf("%s: %s; want the advice: %v", tt.name, text, tt.want)
		}
	}
	// The name server does not answer, so that nothing but the time that is over can end the lookup.
	tr.ResolveWith(&net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	late, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	_, err := tr.Dial(late, "tcp", "far.test:443")
	got := fetch.Explain(&url.URL{Host: "a.test"}, err)
	if got.Kind != fetch.KindTimeout || !strings.Contains(got.Error(), advice) {
		t.Errorf("timeout: %v", got)
	}
}
