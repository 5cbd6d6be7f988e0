package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/render/rendertest"
)

// Chromium believes our certificates from "ca install" to "ca uninstall", with no error ignored. The system's own store
// is left alone: the programs that would change it do nothing here.
func TestChromiumTrustsTheAuthorityWhileItIsInstalled(t *testing.T) {
	chromium, certutil := needs.Program(t, "chromium"), needs.Program(t, "certutil")
	d := serveIn(t, newWeb(t, site()), rendertest.Dir(t))
	db := filepath.Join(d.dir, ".local", "share", "pki", "nssdb")
	if err := os.MkdirAll(db, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := command(t, d.env, certutil, "-d", "sql:"+db, "-N", "--empty-password"); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for _, name := range []string{
		"sudo", "tee", "rm", "update-ca-certificates", "update-ca-trust", "trust", "security",
	} {
		//nolint:gosec // it is run
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(certutil, filepath.Join(bin, "certutil")); err != nil {
		t.Fatal(err)
	}
	inert := append(slices.Clone(d.env), "PATH="+bin)
	loads := func(when string, want bool) {
		t.Helper()
		out, errs, err := command(t, d.env, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
			"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
			"--user-data-dir="+filepath.Join(d.dir, "profile "+when), "--proxy-server=http://"+d.proxy,
			"--virtual-time-budget=5000", "--dump-dom", "https://site.test/guide/page")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out, "about the second one"); got != want {
			t.Errorf("%s the page loads: %v, want %v\n%.2000s\n%.2000s", when, got, want, out, errs)
		}
	}
	loads("before", false)
	if _, _, err := command(t, inert, binary, "ca", "install"); err != nil {
		t.Fatal(err)
	}
	loads("installed", true)
	if _, _, err := command(t, inert, binary, "ca", "uninstall"); err != nil {
		t.Fatal(err)
	}
	loads("after", false)
}
