package certs_test

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/certs"
)

// parsed returns the certificate of a leaf.
func parsed(t *testing.T, leaf *tls.Certificate) *x509.Certificate {
	t.Helper()
	c, err := x509.ParseCertificate(leaf.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLeafIsWhatClientsAccept(t *testing.T) {
	a := open(t, t.TempDir())
	roots := x509.NewCertPool()
	roots.AddCert(a.Certificate())
	for _, tt := range []struct{ ask, verify, san string }{
		{"example.test", "example.test", "example.test"},
		{"Example.TEST.", "example.test", "example.test"},
		{"bücher.test", "xn--bcher-kva.test", "xn--bcher-kva.test"},
		{"under_score.test", "under_score.test", "under_score.test"},
		{"localhost", "localhost", "localhost"},
		{"127.0.0.1", "127.0.0.1", "127.0.0.1"},
		{"::1", "::1", "::1"},
		{"[2001:db8::1]", "2001:db8::1", "2001:db8::1"},
		{"::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1"},
		{
			strings.Repeat("a", 63) + "." + strings.Repeat("b", 63) + ".test",
			strings.Repeat("a", 63) + "." + strings.Repeat("b", 63) + ".test",
			strings.Repeat("a", 63) + "." + strings.Repeat("b", 63) + ".test",
		},
	} {
		leaf, err := a.Leaf(tt.ask)
		if err != nil {
			t.Errorf("Leaf(%q): %v", tt.ask, err)
			continue
		}
		c := parsed(t, leaf)
		if _, err := c.Verify(x509.VerifyOptions{Roots: roots, DNSName: tt.verify}); err != nil {
			t.Errorf("Leaf(%q): %v", tt.ask, err)
		}
		sans := c.DNSNames
		for _, ip := range c.IPAddresses {
			sans = append(sans, ip.String())
		}
		if len(sans) != 1 || sans[0] != tt.san {
			t.Errorf("Leaf(%q) stands for %q, want %q alone", tt.ask, sans, tt.san)
		}
		if life := c.NotAfter.Sub(c.NotBefore); life > 7*24*time.Hour {
			t.Errorf("Leaf(%q) lives %v, want 7 days at most", tt.ask, life)
		}
		if since := time.Since(c.NotBefore); since < 23*time.Hour {
			t.Errorf("Leaf(%q) is valid since %v, want a day for slow clocks", tt.ask, since)
		}
		if c.IsCA || len(leaf.Certificate) != 1 {
			t.Errorf("Leaf(%q): authority %v, chain of %d, want a leaf alone", tt.ask, c.IsCA, len(leaf.Certificate))
		}
	}
}

func TestNamesNoCertificateCanStandForAreErrors(t *testing.T) {
	a := open(t, t.TempDir())
	for _, name := range []string{
		"", ".", "*.example.test", "*", "a b.test", "a..test", ".a.test", "a.test:443", "a/b", "a@b.test", "a\x00.test",
		"a\n.test", "%41.test",
		strings.Repeat("a", 300), strings.Repeat("a", 64) + ".test", strings.Repeat("a.", 150) + "test",
		strings.Repeat("ü", 5000), "[::1", "xn--\xff.test", "256.1.1.1/8",
	} {
		if leaf, err := a.Leaf(name); err == nil {
			t.Errorf("Leaf(%q) stands for %v %v, want an error", name, parsed(t, leaf).DNSNames, parsed(t, leaf).IPAddresses)
		}
	}
}

func TestEachLeafHasAKeyAndA128BitSerialOfItsOwn(t *testing.T) {
	a := open(t, t.TempDir())
	serials := map[string]bool{}
	var keys []*ecdsa.PrivateKey
	longest := 0
	for _, name := range []string{"a.test", "b.test", "c.test", "d.test", "e.test", "f.test"} {
		leaf, err := a.Leaf(name)
		if err != nil {
			t.Fatal(err)
		}
		serials[parsed(t, leaf).SerialNumber.String()] = true
		longest = max(longest, parsed(t, leaf).SerialNumber.BitLen())
		key := leaf.PrivateKey.(*ecdsa.PrivateKey)
		for _, other := range keys {
			if key.Equal(other) {
				t.Fatal("two leaves share a key")
			}
		}
		keys = append(keys, key)
	}
	if len(serials) != 6 || longest < 113 || longest > 129 { // all six are below 2^113 with a probability of 10^-27
		t.Errorf("%d serials of at most %d bits, want 6 of 128", len(serials), longest)
	}
}

func TestLeafIsSignedOnceForManyAskingAtOnce(t *testing.T) {
	a := open(t, t.TempDir())
	leaves := make([]*tls.Certificate, 32)
	var wg sync.WaitGroup
	for i := range leaves {
		wg.Go(func() { leaves[i], _ = a.Leaf("busy.test") })
	}
	wg.Wait()
	for _, l := range leaves {
		if l == nil || l != leaves[0] {
			t.Fatal("several leaves were signed for one name")
		}
	}
}

func TestLeafIsRenewedBeforeItExpires(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a := open(t, dir)
		first, err := a.Leaf("a.test")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * 24 * time.Hour)
		if same, _ := a.Leaf("a.test"); same != first {
			t.Error("after four days another leaf was signed")
		}
		time.Sleep(30 * time.Hour)
		next, err := a.Leaf("a.test")
		if err != nil || next == first {
			t.Fatalf("with %v left the old leaf was given (%v)", time.Until(parsed(t, first).NotAfter), err)
		}
		if left := time.Until(parsed(t, next).NotAfter); left < 5*24*time.Hour {
			t.Errorf("the new leaf has %v left", left)
		}
	})
}

// Each bubble begins at the same time: in the second one the clock was set back by five days.
func TestLeafIsSignedAgainAfterTheClockWasSetBack(t *testing.T) {
	dir := t.TempDir()
	var a *certs.Authority
	leaf := func(t *testing.T) *tls.Certificate {
		t.Helper()
		l, err := a.Leaf("a.test")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	synctest.Test(t, func(t *testing.T) {
		a = open(t, dir)
		time.Sleep(5 * 24 * time.Hour)
		leaf(t)
	})
	synctest.Test(t, func(t *testing.T) {
		if l := leaf(t); time.Now().Before(parsed(t, l).NotBefore) {
			t.Errorf("the leaf given is valid from %v on, and it is %v", parsed(t, l).NotBefore, time.Now())
		}
	})
}

func TestHandshakeWithALeafSucceeds(t *testing.T) {
	a := open(t, t.TempDir())
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.PEM())
	client, server := net.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() {
		s := tls.Server(server,
			&tls.Config{GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) { return a.Leaf(h.ServerName) }})
		if err := s.HandshakeContext(t.Context()); err != nil {
			t.Error(err)
		}
	})
	c := tls.Client(client, &tls.Config{RootCAs: roots, ServerName: "a.test"})
	if err := c.HandshakeContext(t.Context()); err != nil {
		t.Error(err)
	}
	_ = client.Close()
	wg.Wait()
	_ = server.Close()
}

func FuzzLeafNames(f *testing.F) {
	for _, s := range []string{"a.test", "*.a", "[::1]", "bücher.test", "xn--a", "1.2.3.4", strings.Repeat("a", 254)} {
		f.Add(s)
	}
	a, err := openFor(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		leaf, err := a.Leaf(name)
		if err != nil {
			return
		}
		if n := len(parsed(t, leaf).DNSNames) + len(parsed(t, leaf).IPAddresses); n != 1 {
			t.Errorf("Leaf(%q) stands for %d names", name, n)
		}
		for _, n := range parsed(t, leaf).DNSNames {
			if len(n) > 253 || strings.ContainsAny(n, "*/@: \x00") || n != strings.ToLower(n) {
				t.Errorf("Leaf(%q) stands for %q", name, n)
			}
		}
	})
}
