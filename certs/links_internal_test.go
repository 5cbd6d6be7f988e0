//go:build linux

package certs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/smallstep/truststore"
)

// updater makes the platform's trust store one of Debian's form below a new directory. Its command keeps links as
// update-ca-certificates does, whose script is used where it is installed.
func updater(t *testing.T) (links string) {
	t.Helper()
	local, links, bin := t.TempDir(), t.TempDir(), t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
set -e
cd %[2]s
[ "$1" != --fresh ] || rm -f ./*
for cert in %[1]s/*.crt; do
	[ ! -e "$cert" ] || ln -sf "$cert" "$(basename "$cert" .crt).pem"
done
`, local, links)
	if real, err := exec.LookPath("update-ca-certificates"); err == nil {
		script = fmt.Sprintf("#!/bin/sh\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\nexec %s \"$@\" --certsdir %s --localcertsdir %s "+
			"--etccertsdir %s --hooksdir /nonexistent\n", real, t.TempDir(), local, links)
	}
	command := filepath.Join(bin, "update-ca-certificates")
	if err := os.WriteFile(command, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	name, old := truststore.SystemTrustFilename, truststore.SystemTrustCommand
	truststore.SystemTrustFilename, truststore.SystemTrustCommand = filepath.Join(local, "%s.crt"), []string{command}
	t.Cleanup(func() { truststore.SystemTrustFilename, truststore.SystemTrustCommand = name, old })
	return links
}

func TestUninstallLeavesNoLinks(t *testing.T) {
	links := updater(t)
	tools(t, "tee", "rm", "ln", "basename")
	t.Setenv("HOME", t.TempDir())
	a, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if notes, err := a.Install(); err != nil {
		t.Fatalf("Install: %v (%q)", err, notes)
	}
	if made, _ := filepath.Glob(filepath.Join(links, "readthru-*.pem")); len(made) != 1 {
		t.Fatalf("links %v, want one of ours", made)
	}
	if notes, err := a.Uninstall(); err != nil {
		t.Fatalf("Uninstall: %v (%q)", err, notes)
	}
	left, err := os.ReadDir(links)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		if _, err := os.Stat(filepath.Join(links, entry.Name())); err != nil {
			t.Errorf("%s leads nowhere: %v", entry.Name(), err)
		}
	}
}
