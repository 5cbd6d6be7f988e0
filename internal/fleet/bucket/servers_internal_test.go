//go:build linux

package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/internal/fleet/fleettest"
)

// roundTrip puts a content and gets it again, then puts another one in its place.
func roundTrip(t *testing.T, b *Bucket) {
	t.Helper()
	content := bytes.Repeat([]byte("a content "), 1000)
	hash := sha256.Sum256(content)
	for _, replace := range []bool{false, false, true} {
		if err := b.Put(t.Context(), hash, Pack(content), replace); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Get(t.Context(), hash, len(content)); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
}

func TestABucketInTheNameOfItsHost(t *testing.T) {
	t.Parallel()
	server, err := url.Parse(fleettest.StartBucket(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.TrimPrefix(server.Query().Get("endpoint"), "http://")
	b, err := New("s3://reader:secret-of-tests@contents/a?endpoint=http://contents." + fleettest.Domain)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", at) // there is no such domain
	}}
	roundTrip(t, b)
}

// A bucket whose objects nobody may remove for a day takes new ones, and another content in place of a wrong one.
func TestABucketWithObjectLock(t *testing.T) {
	t.Parallel()
	server := fleettest.StartBucket(t)
	b, err := New(strings.Replace(server.URL, "@contents/fleet", "@locked", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ask := func(query, body string, fields ...string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, strings.TrimSuffix(b.base, "/")+query,
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := b.send(t.Context(), req, []byte(body), fields...)
		if err != nil || resp.Body.Close() != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	ask("", "", "X-Amz-Bucket-Object-Lock-Enabled", "true")
	ask("?object-lock", `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention>
		<Mode>COMPLIANCE</Mode><Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>`)
	roundTrip(t, b)
}

// In a bubble it is the year 2000, and the server's clock is right.
func TestAClockThatIsOffSaysSo(t *testing.T) {
	t.Parallel()
	server := fleettest.StartBucket(t)
	synctest.Test(t, func(t *testing.T) {
		b, err := New(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if reason, remedy := b.Explain(b.Try(ctx)); !strings.Contains(reason, "RequestTimeTooSkewed") ||
			!strings.Contains(remedy, "NTP") {
			t.Errorf("%s; %s", reason, remedy)
		}
	})
}
