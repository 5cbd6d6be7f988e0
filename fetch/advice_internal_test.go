package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// A connection that fails names the advice, unless no proxy would help: on this machine, at an address that
// upstream.resolve names, at a blocked address, at an endpoint of the operator.
func TestAFailedConnectionNamesTheAdvice(t *testing.T) {
	const advice = "set proxy.upstream"
	closed := netip.MustParseAddrPort("127.0.0.1:1")
	d := &dialer{
		advice: advice, resolve: []mapping{{"mapped.test", "443", closed}}, private: [3]bool{operator: true},
		resolver: &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("no name server")
		}},
		avoid: func() []netip.AddrPort { return []netip.AddrPort{closed} },
	}
	for _, tt := range []struct {
		addr string
		p    policy
		want bool
	}{
		{"far.test:443", proxied, true},
		{"far.test:443", own, true},
		{"far.test:443", operator, false},
		{"mapped.test:443", proxied, false},
		{"127.0.0.1:1", proxied, false},
		{"169.254.169.254:80", proxied, false},
	} {
		conn, err := d.dial(t.Context(), tt.p, "tcp", tt.addr)
		if err == nil {
			_ = conn.Close()
			t.Errorf("%s is connected", tt.addr)
			continue
		}
		text := Explain(&url.URL{Scheme: "https", Host: tt.addr}, err).Error()
		if strings.Contains(text, advice) != tt.want {
			t.Errorf("%s under policy %d: %s; want the advice: %v", tt.addr, tt.p, text, tt.want)
		}
	}
	timeout := &adviceError{advice, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}}
	got := Explain(&url.URL{Host: "a.test"}, timeout)
	if got.Kind != KindTimeout || !strings.Contains(got.Error(), advice) {
		t.Errorf("timeout: %v", got)
	}
}
