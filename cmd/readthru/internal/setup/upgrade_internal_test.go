package setup

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestThePathTellsHowTheProgramWasInstalled(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]installer{
		"homebrew/Cellar/readthru/1.4.0/bin/readthru": byBrew,
		"scoop/apps/readthru/current/readthru.exe":    byScoop,
		"WinGet/Packages/readthru_x/readthru.exe":     byWinget,
		"checkout/bin/readthru":                       byCheckout,
		"opt/readthru":                                byArchive,
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		if want == byCheckout {
			if err := os.MkdirAll(filepath.Join(dir, "checkout", "cmd", "readthru"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if got := installedBy(context.WithoutCancel(t.Context()), file); got != want {
			t.Errorf("installedBy(%s) = %s, want %s", name, got, want)
		}
	}
}

func TestEachWayOfInstallingHasItsWayToUpgrade(t *testing.T) {
	for by, want := range map[installer]string{
		byDeb: "/releases/download/v1.4.0/readthru-", byRPM: "dnf install", byAPK: "apk add", byBrew: "brew upgrade",
		byScoop: "scoop install", byWinget: "winget upgrade", byImage: "v1.4.0/readthru-image.tar",
		byCheckout: "make build", byGo: "@latest", byArchive: "replace /opt/readthru",
	} {
		if _, lines := upgradeOf(by, "/opt/readthru", "v1.4.0"); !strings.Contains(strings.Join(lines, "\n"), want) {
			t.Errorf("%s: %q lacks %q", by, lines, want)
		}
	}
}
