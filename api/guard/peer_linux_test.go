package guard_test

import (
	"net"
	"net/netip"
	"testing"

	"github.com/readthru/readthru/api/guard"
)

// connected returns both ends of a connection within this machine.
func connected(t *testing.T, listen, dial string) (client, server net.Conn) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", listen)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a listener of a test
	_, port, _ := net.SplitHostPort(l.Addr().String())
	client, err = new(net.Dialer).DialContext(t.Context(), "tcp", net.JoinHostPort(dial, port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return client, server
}

func TestTheKernelTellsWhoseTheOtherEndIs(t *testing.T) {
	for _, tt := range []struct{ name, listen, dial string }{
		{"IPv4", "127.0.0.1:0", "127.0.0.1"},
		{"IPv6", "[::1]:0", "::1"},
		{"IPv4 at a listener for both", "[::]:0", "127.0.0.1"},
		{"IPv4 by an IPv6 socket", "[::]:0", "::ffff:127.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, accepted := connected(t, tt.listen, tt.dial)
			local := netip.MustParseAddrPort(accepted.LocalAddr().String())
			remote := netip.MustParseAddrPort(accepted.RemoteAddr().String())
			if !guard.OwnedByUs(local, remote) {
				t.Error("our own connection is not ours")
			}
			if guard.OwnedByUs(local, netip.AddrPortFrom(remote.Addr(), remote.Port()^1)) {
				t.Error("a connection that does not exist is ours")
			}
			// As far as the kernel tells, root owns a socket that its program has closed: anybody may have.
			if err := client.Close(); err != nil {
				t.Fatal(err)
			}
			if guard.OwnedByUs(local, remote) {
				t.Error("a connection whose program hung up is ours")
			}
		})
	}
}

func TestAListenerIsNotTheOtherEnd(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a listener of a test
	// Where no connection has these ends, the kernel answers with what listens at the first.
	if guard.OwnedByUs(netip.MustParseAddrPort("127.0.0.1:1"), netip.MustParseAddrPort(l.Addr().String())) {
		t.Error("a listener of ours is taken for a client")
	}
}

func BenchmarkOwnerOfASocket(b *testing.B) {
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a listener of a test
	client, err := new(net.Dialer).DialContext(b.Context(), "tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close() //nolint:errcheck // as above
	local := netip.MustParseAddrPort(client.RemoteAddr().String())
	remote := netip.MustParseAddrPort(client.LocalAddr().String())
	for b.Loop() {
		if !guard.OwnedByUs(local, remote) {
			b.Fatal("not ours")
		}
	}
}
