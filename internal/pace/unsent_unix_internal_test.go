//go:build linux || darwin

package pace

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
)

// What the kernel holds for a client shrinks as the client reads: a slow client is known from one that has stopped.
func TestWhatAClientHasNotTakenIsKnown(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	client, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	if err := server.SetWriteDeadline(time.Now().Add(500 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	written, err := io.Copy(server, endless{})
	if !os.IsTimeout(err) {
		t.Fatal(err)
	}
	held := unsent(server)
	if held <= 0 {
		t.Fatalf("after %d bytes that nobody read, %d are held", written, held)
	}
	if _, err := io.CopyN(io.Discard, client, written); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "none are held, since all were read", func() bool { return unsent(server) == 0 })
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
