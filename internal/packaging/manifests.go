package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/readthru/readthru/internal/releases"
)

// Manifests for package managers that download an archive. Each is a template over the same facts.
var (
	//go:embed homebrew.rb
	homebrew string
	//go:embed scoop.json
	scoop string
	//go:embed winget.yaml
	winget string
)

// manifests writes the checksums of the parts that were made, and the manifests whose archives are among them.
func (r *release) manifests(made []string) error {
	sums := map[string]string{}
	var list strings.Builder
	slices.Sort(made)
	for _, name := range made {
		content, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		sums[name] = hex.EncodeToString(sum[:])
		fmt.Fprintf(&list, "%s  %s\n", sums[name], name)
	}
	if err := r.write("SHA256SUMS", list.String()); err != nil {
		return err
	}
	for _, m := range []struct{ name, text, needs string }{
		{"readthru.rb", homebrew, "readthru-darwin-arm64.tar.gz"},
		{"readthru.scoop.json", scoop, "readthru-windows-amd64.zip"},
		{"readthru.winget.yaml", winget, "readthru-windows-amd64.zip"},
	} {
		if sums[m.needs] == "" {
			continue
		}
		var b bytes.Buffer
		err := template.Must(template.New("").Option("missingkey=error").Parse(m.text)).Execute(&b, map[string]any{
			"Version": r.number, "Tag": r.version, "Home": releases.Home, "Summary": summary, "Sums": sums,
			"At": releases.File(r.version, ""),
		})
		if err != nil {
			return err
		}
		if err := r.write(m.name, b.String()); err != nil {
			return err
		}
	}
	return nil
}

// write writes a text that everybody may read into the release's folder.
func (r *release) write(name, text string) error {
	return written(filepath.Join(r.out, name), func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
