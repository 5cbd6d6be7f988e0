package certs_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elazarl/goproxy"

	"github.com/readthru/readthru/certs"
)

func open(t *testing.T, dir string) *certs.Authority {
	t.Helper()
	a, err := certs.Open(certs.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestNewAuthorityCanSignLeavesAndNothingElse(t *testing.T) {
	c := open(t, filepath.Join(t.TempDir(), "data", "ca")).Certificate()
	key, ok := c.PublicKey.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		t.Errorf("public key is %T, want ECDSA on P-256", c.PublicKey)
	}
	if !c.IsCA || c.MaxPathLen != 0 || !c.MaxPathLenZero {
		t.Errorf("IsCA %v, path length %d (zero is meant: %v), want an authority of path length 0", c.IsCA, c.MaxPathLen,
			c.MaxPathLenZero)
	}
	if c.KeyUsage != x509.KeyUsageCertSign|x509.KeyUsageCRLSign {
		t.Errorf("key usage %b", c.KeyUsage)
	}
	if life := time.Until(c.NotAfter); life < 9*365*24*time.Hour || life > 11*365*24*time.Hour {
		t.Errorf("expires in %v, want about ten years", life)
	}
}

func TestFilesHaveTheModesPromised(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ca")
	a := open(t, dir)
	check := func(when string, modes map[string]os.FileMode) {
		t.Helper()
		for path, want := range modes {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode() != want {
				t.Errorf("%s, %s: mode %v, want %v", when, path, info.Mode(), want)
			}
		}
	}
	modes := map[string]os.FileMode{
		dir: 0o700 | os.ModeDir, filepath.Join(dir, "ca.key"): 0o600, a.CertFile(): 0o644, a.BundleFile(): 0o644,
	}
	check("made", modes)
	if err := a.Renew(); err != nil {
		t.Fatal(err)
	}
	old, _ := filepath.Glob(filepath.Join(dir, "ca.key.old-*"))
	if len(old) != 1 {
		t.Fatalf("former keys: %v, want one", old)
	}
	modes[old[0]] = 0o600
	check("renewed", modes)
	left, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(left) != 0 {
		t.Errorf("temporary files left behind: %v", left)
	}
}

func TestAuthorityIsTheSameWhenOpenedAgain(t *testing.T) {
	dir := t.TempDir()
	first, second := open(t, dir), open(t, dir)
	if !first.Certificate().Equal(second.Certificate()) {
		t.Error("the second Open made another authority")
	}
	onDisk, err := os.ReadFile(first.CertFile())
	if err != nil || !bytes.Equal(onDisk, second.PEM()) {
		t.Errorf("ca.pem differs from PEM(): %v", err)
	}
}

func TestAuthoritiesDifferFromEachOtherAndFromTheOneInGoproxysSource(t *testing.T) {
	a, b := open(t, t.TempDir()).Certificate(), open(t, t.TempDir()).Certificate()
	if a.PublicKey.(*ecdsa.PublicKey).Equal(b.PublicKey) || a.SerialNumber.Cmp(b.SerialNumber) == 0 {
		t.Error("two authorities share key or serial")
	}
	if bytes.Equal(goproxy.GoproxyCa.Certificate[0], a.Raw) || goproxy.GoproxyCa.Leaf != nil &&
		goproxy.GoproxyCa.Leaf.Issuer.String() == a.Issuer.String() {
		t.Error("the authority is the one whose private key is in goproxy's public source")
	}
}

func TestManyOpeningAtOnceAgreeOnOneAuthority(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	serials := make([]string, 8)
	for i := range serials {
		wg.Go(func() {
			a, err := certs.Open(certs.Options{Dir: dir})
			if err != nil {
				t.Error(err)
				return
			}
			serials[i] = a.Certificate().SerialNumber.String()
		})
	}
	wg.Wait()
	for _, s := range serials {
		if s != serials[0] {
			t.Fatalf("serials %v, want one", serials)
		}
	}
}

func TestDamagedKeyIsRefusedWithARemedyAndKept(t *testing.T) {
	good := func(t *testing.T) []byte {
		t.Helper()
		dir := t.TempDir()
		open(t, dir)
		data, err := os.ReadFile(filepath.Join(dir, "ca.key"))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T) []byte
		mode   os.FileMode
		want   string
	}{
		{"readable by others", good, 0o640, "can be read by other users"},
		{"empty", func(*testing.T) []byte { return nil }, 0o600, "no private key"},
		{"garbage", func(*testing.T) []byte { return []byte("\x00\xff not PEM") }, 0o600, "no private key"},
		{"cut short", func(t *testing.T) []byte {
			t.Helper()
			return good(t)[:120]
		}, 0o600, "no private key"},
		{"key without certificate", func(t *testing.T) []byte {
			t.Helper()
			block, _ := pem.Decode(good(t))
			return pem.EncodeToMemory(block)
		}, 0o600, "no certificate"},
		{"certificate of another key", func(t *testing.T) []byte {
			t.Helper()
			block, _ := pem.Decode(good(t))
			_, other := pem.Decode(good(t))
			return append(pem.EncodeToMemory(block), other...)
		}, 0o600, "belongs to another key"},
		{"bytes of the key changed", func(t *testing.T) []byte {
			t.Helper()
			block, rest := pem.Decode(good(t))
			block.Bytes[4] ^= 0xff
			return append(pem.EncodeToMemory(block), rest...)
		}, 0o600, "parse private key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "ca.key")
			before := tt.damage(t)
			if err := os.WriteFile(path, before, tt.mode); err != nil {
				t.Fatal(err)
			}
			_, err := certs.Open(certs.Options{Dir: dir})
			var e *certs.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) || e.Hint() == "" {
				t.Fatalf("Open: %v, want an error with a hint that says %q", err, tt.want)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the damaged key was changed")
			}
		})
	}
}

func TestLostOrDamagedCertificateFileIsWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	a := open(t, dir)
	if err := os.Remove(a.BundleFile()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.CertFile(), []byte("garbage"), 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	for _, path := range []string{a.CertFile(), a.BundleFile()} {
		if data, err := os.ReadFile(path); err != nil || !bytes.Contains(data, a.PEM()) {
			t.Errorf("%s does not hold our certificate: %v", path, err)
		}
	}
}

func TestRenewKeepsTheOldKeyAsideAndForgetsItsLeaves(t *testing.T) {
	dir := t.TempDir()
	a := open(t, dir)
	old, err := os.ReadFile(filepath.Join(dir, "ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	before, err := a.Leaf("a.test")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Renew(); err != nil {
		t.Fatal(err)
	}
	aside, _ := filepath.Glob(filepath.Join(dir, "ca.key.old-*"))
	if len(aside) != 1 {
		t.Fatalf("keys aside: %v, want one", aside)
	}
	kept, err := os.ReadFile(aside[0])
	if info, serr := os.Stat(aside[0]); err != nil || serr != nil || !bytes.Equal(kept, old) ||
		info.Mode().Perm() != 0o600 {
		t.Errorf("the old key is not kept as it was: %v %v", err, serr)
	}
	after, err := a.Leaf("a.test")
	if err != nil {
		t.Fatal(err)
	}
	if after == before || parsed(t, after).CheckSignatureFrom(a.Certificate()) != nil {
		t.Error("a leaf of the old authority is still given")
	}
	if again := open(t, dir); !again.Certificate().Equal(a.Certificate()) {
		t.Error("the renewed authority is not the one on disk")
	}
	if data, _ := os.ReadFile(a.BundleFile()); !bytes.Contains(data, a.PEM()) {
		t.Error("the bundle does not hold the new certificate")
	}
}

func TestNameConstraintsExcludeWhatIsNotPermitted(t *testing.T) {
	a, err := certs.Open(certs.Options{Dir: t.TempDir(), Permitted: []string{"example.test", "10.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.Certificate())
	for name, want := range map[string]bool{
		"example.test": true, "www.example.test": true, "10.1.2.3": true,
		"other.test": false, "192.0.2.1": false, "::1": false,
	} {
		leaf, err := a.Leaf(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = parsed(t, leaf).Verify(x509.VerifyOptions{Roots: roots, DNSName: name})
		if (err == nil) != want {
			t.Errorf("%s: verify: %v, want accepted %v", name, err, want)
		}
	}
	if _, err := certs.Open(certs.Options{Dir: t.TempDir(), Permitted: []string{"not a name"}}); err == nil {
		t.Error("a constraint that is none was accepted")
	}
}

func TestOpenWithoutDirectoryIsAnError(t *testing.T) {
	if _, err := certs.Open(certs.Options{}); err == nil {
		t.Error("Open without a directory succeeded")
	}
}

func openFor(dir string) (*certs.Authority, error) { return certs.Open(certs.Options{Dir: dir}) }
