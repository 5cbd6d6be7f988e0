//go:build linux

package certs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/smallstep/truststore"
)

// inertSystem points the platform's trust store to a directory and makes its command do nothing during a test.
func inertSystem(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	name, command := truststore.SystemTrustFilename, truststore.SystemTrustCommand
	truststore.SystemTrustFilename, truststore.SystemTrustCommand = filepath.Join(dir, "%s.crt"), []string{"true"}
	t.Cleanup(func() { truststore.SystemTrustFilename, truststore.SystemTrustCommand = name, command })
	return dir
}

func tools(t *testing.T, names ...string) {
	t.Helper()
	bin := t.TempDir()
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatalf("this test needs %s (Debian: coreutils, libnss3-tools): %v", name, err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin) // without sudo
}

func TestInstallReachesTheSystemAndEachBrowserAndUninstallUndoesIt(t *testing.T) {
	system := inertSystem(t)
	tools(t, "tee", "true", "rm", "certutil")
	home := t.TempDir()
	t.Setenv("HOME", home)
	profile := filepath.Join(home, ".mozilla", "firefox", "abc.default")
	databases := []string{filepath.Join(home, ".pki", "nssdb"), profile}
	for _, db := range databases {
		if err := os.MkdirAll(db, 0o700); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "certutil", "-N", "--empty-password", "-d",
			"sql:"+db).CombinedOutput(); err != nil {
			t.Fatalf("make a database: %v: %s", err, out)
		}
	}
	a, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	notes, err := a.Install()
	if err != nil {
		t.Fatalf("Install: %v (%q)", err, notes)
	}
	if all := strings.Join(notes, "\n"); strings.Count(all, "added to") != 3 {
		t.Errorf("notes %q, want three places", notes)
	}
	files, _ := filepath.Glob(filepath.Join(system, "*.crt"))
	if len(files) != 1 {
		t.Fatalf("the system's store has %v, want one file", files)
	}
	if data, _ := os.ReadFile(files[0]); !bytes.Contains(data, a.PEM()) {
		t.Error("the system's store holds something else")
	}
	for _, db := range databases {
		if out, err := exec.CommandContext(t.Context(), "certutil", "-L", "-d", "sql:"+db, "-n", a.nickname(),
			"-a").CombinedOutput(); err != nil || !strings.Contains(string(out), "BEGIN CERTIFICATE") {
			t.Errorf("%s: %v: %s", db, err, out)
		}
	}

	for range 2 { // the second time, there is nothing to remove
		if notes, err := a.Uninstall(); err != nil {
			t.Fatalf("Uninstall: %v (%q)", err, notes)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(system, "*.crt")); len(files) != 0 {
		t.Errorf("left in the system's store: %v", files)
	}
	for _, db := range databases {
		if exec.CommandContext(t.Context(), "certutil", "-L", "-d", "sql:"+db, "-n", a.nickname()).Run() == nil {
			t.Errorf("left in %s", db)
		}
	}
}

func TestInstallWithoutCertutilSaysWhatWasLeftOut(t *testing.T) {
	inertSystem(t)
	tools(t, "tee", "true")
	t.Setenv("HOME", t.TempDir())
	a, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	notes, err := a.Install()
	if err != nil || !strings.Contains(strings.Join(notes, "\n"), "certutil is not installed") {
		t.Errorf("notes %q, error %v", notes, err)
	}
}

func TestInstallSaysThatTheSystemRefused(t *testing.T) {
	inertSystem(t)
	truststore.SystemTrustFilename = "/nonexistent/%s.crt"
	tools(t, "tee", "true")
	t.Setenv("HOME", t.TempDir())
	a, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	notes, err := a.Install()
	if err == nil || !strings.Contains(strings.Join(notes, "\n"), "not added to the system's trust store") {
		t.Errorf("notes %q, error %v", notes, err)
	}
}

func TestBundleHoldsTheSystemsRootsAndOursAndFollowsThem(t *testing.T) {
	old := rootFiles
	t.Cleanup(func() { rootFiles = old })
	other, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, bytes.TrimRight(other.PEM(), "\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	rootFiles = []string{"/nonexistent", roots}

	a, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	want := append(bytes.Clone(other.PEM()), a.PEM()...)
	if got, _ := os.ReadFile(a.BundleFile()); !bytes.Equal(got, want) {
		t.Errorf("bundle:\n%s\nwant:\n%s", got, want)
	}
	if err := os.WriteFile(roots, append(other.PEM(), other.PEM()...), 0o644); err != nil {
		t.Fatal(err)
	}
	from, err := a.Bundle()
	if err != nil || from != roots {
		t.Errorf("Bundle() = %q, %v, want %q", from, err, roots)
	}
	if got, _ := os.ReadFile(a.BundleFile()); bytes.Count(got, []byte("BEGIN")) != 3 {
		t.Error("the bundle did not follow the system's roots")
	}
	rootFiles = nil
	if from, err := a.Bundle(); err != nil || from != "" {
		t.Errorf("Bundle() without roots = %q, %v", from, err)
	}
	if got, _ := os.ReadFile(a.BundleFile()); !bytes.Equal(got, a.PEM()) {
		t.Error("without roots the bundle is not ours alone")
	}
}

func TestDatabasesOfAllBrowsersAreFoundOnce(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, ".local", "share"))
	var want []string
	for _, dir := range []string{
		".pki/nssdb", ".local/share/pki/nssdb", "snap/chromium/current/.pki/nssdb",
		".var/app/org.chromium.Chromium/data/pki/nssdb", ".mozilla/firefox/a.default", ".config/mozilla/firefox/b.default",
		"snap/firefox/common/.mozilla/firefox/c.default", ".var/app/org.mozilla.firefox/.mozilla/firefox/d.default",
	} {
		dir = filepath.Join(home, filepath.FromSlash(dir))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "cert9.db"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		want = append(want, "sql:"+dir)
	}
	if err := os.MkdirAll(filepath.Join(home, ".mozilla", "firefox", "Crash Reports"), 0o700); err != nil {
		t.Fatal(err)
	}
	got := nssDatabases(home)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestEachStoreSaysWhetherItHasTheAuthority tells apart what has it, what has it not, and what cannot be looked into.
func TestEachStoreSaysWhetherItHasTheAuthority(t *testing.T) {
	inertSystem(t)
	tools(t, "tee", "true", "rm", "certutil")
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", "")
	a, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	broken, good := filepath.Join(home, ".local", "share", "pki", "nssdb"), filepath.Join(home, ".pki", "nssdb")
	for _, dir := range []string{broken, good} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "certutil", "-N", "--empty-password", "-d",
		"sql:"+good).CombinedOutput(); err != nil {
		t.Fatalf("make a database: %v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(broken, "cert9.db"), []byte("not a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	roots := filepath.Join(t.TempDir(), "roots.pem")
	other, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(roots, other.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	old := rootFiles
	t.Cleanup(func() { rootFiles = old })
	states := func() (list []string) {
		for _, s := range a.Trust(t.Context()) {
			state := "no"
			switch {
			case s.Err != nil:
				state = "unknown: " + s.Err.Error()
			case s.Has:
				state = "yes"
			}
			list = append(list, strings.ReplaceAll(s.Store, home, "~")+" "+state)
		}
		return list
	}
	check := func(when string, want ...string) {
		t.Helper()
		got := states()
		for i := range want {
			if len(got) != len(want) || !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%s: %q, want %q", when, got, want)
				return
			}
		}
	}
	rootFiles = []string{roots}
	check("before", SystemStore+" no", "sql:~/.pki/nssdb no", "sql:~/.local/share/pki/nssdb unknown: certutil -L: ")
	_, _ = a.Install() // one database refuses
	check("installed", SystemStore+" yes", "sql:~/.pki/nssdb yes", "sql:~/.local/share/pki/nssdb unknown: ")
	if got := a.Trusting(t.Context()); len(got) != 2 {
		t.Errorf("Uninstall would change %q", got)
	}
	if err := a.Renew(); err != nil {
		t.Fatal(err)
	}
	rootFiles = nil
	check("renewed, and no roots are found", SystemStore+" unknown: no file", "sql:~/.pki/nssdb no",
		"sql:~/.local/share/pki/nssdb unknown: ")
	tools(t, "true")
	check("without certutil", SystemStore+" unknown: ", "sql:~/.pki/nssdb unknown: certutil is not installed",
		"sql:~/.local/share/pki/nssdb unknown: ")
}
