package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// newRelease returns a release whose programs are short texts, so that nothing is built.
func newRelease(t *testing.T) *release {
	t.Helper()
	t.Chdir("../..")
	dir := t.TempDir()
	r := &release{
		facts: facts{version: "v1.2.3", number: "1.2.3", time: time.Unix(1700000000, 0).UTC(), out: t.TempDir()},
		work:  t.TempDir(), built: map[target]string{},
	}
	for _, to := range targets {
		r.built[to] = filepath.Join(dir, to.String())
		if err := os.WriteFile(r.built[to], []byte("program for "+to.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// entries returns the names in a tar archive in their order, with the content of files.
func entries(t *testing.T, r io.Reader) (names []string, content map[string][]byte) {
	t.Helper()
	content = map[string][]byte{}
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names, content
		}
		if err != nil {
			t.Fatal(err)
		}
		if names = append(names, h.Name); h.Uid != 0 && h.Name != "data/" || h.ModTime.Unix() != 1700000000 {
			t.Errorf("%s: owner %d, time %s", h.Name, h.Uid, h.ModTime)
		}
		if content[h.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheSameFilesMakeTheSameArchive(t *testing.T) {
	r := newRelease(t)
	files := []file{{"b/two", r.built[targets[1]], 0o644}, {"a", r.built[targets[0]], 0o755}}
	var made [2]bytes.Buffer
	for i := range made {
		if err := tarred(&made[i], "top", files, r.time); err != nil {
			t.Fatal(err)
		}
		slices.Reverse(files)
	}
	if !bytes.Equal(made[0].Bytes(), made[1].Bytes()) {
		t.Error("the order of files changes the archive")
	}
	names, _ := entries(t, &made[0])
	if want := []string{"top/", "top/a", "top/b/", "top/b/two"}; !slices.Equal(names, want) {
		t.Errorf("entries %q, want %q", names, want)
	}
}

// The image is what the format says: every blob has its digest's name, and a manifest leads to each (OCI image format).
func TestImageLeadsToItsBlobs(t *testing.T) {
	r := newRelease(t)
	name := filepath.Join(r.out, "image.tar")
	if err := r.image(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	_, content := entries(t, f)
	seen := 0
	blob := func(d descriptor) []byte {
		seen++
		b := content["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if sum := sha256.Sum256(b); "sha256:"+hex.EncodeToString(sum[:]) != d.Digest || int64(len(b)) != d.Size {
			t.Errorf("blob %s has %d bytes of another digest, want %d", d.Digest, len(b), d.Size)
		}
		return b
	}
	read := func(b []byte, v any) {
		if err := json.Unmarshal(b, v); err != nil {
			t.Fatal(err)
		}
	}
	var top, index manifest
	read(content["index.json"], &top)
	read(blob(top.Manifests[0]), &index)
	for i, to := range targets[:2] {
		var m manifest
		var c imageConfig
		read(blob(index.Manifests[i]), &m)
		read(blob(*m.Config), &c)
		if *index.Manifests[i].Platform != (platform{to.arch, "linux"}) || c.Architecture != to.arch {
			t.Errorf("image %d is for %+v and %s", i, index.Manifests[i].Platform, c.Architecture)
		}
		z, err := gzip.NewReader(bytes.NewReader(blob(m.Layers[0])))
		if err != nil {
			t.Fatal(err)
		}
		layer, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(layer); c.RootFS.DiffIDs[0] != "sha256:"+hex.EncodeToString(sum[:]) {
			t.Errorf("the layer's digest is not %s", c.RootFS.DiffIDs[0])
		}
		_, files := entries(t, bytes.NewReader(layer))
		if string(files["usr/bin/readthru"]) != "program for "+to.String() {
			t.Errorf("the program is %q", files["usr/bin/readthru"])
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(files["etc/ssl/certs/ca-certificates.crt"]) {
			t.Error("there are no public authorities")
		}
	}
	if blobs := len(content) - len([]string{"oci-layout", "index.json", "blobs/", "blobs/sha256/"}); seen != blobs {
		t.Errorf("the manifests lead to %d of %d blobs", seen, blobs)
	}
}

func TestManifestsNameWhatWasMade(t *testing.T) {
	r := newRelease(t)
	var made []string
	for _, p := range r.parts() {
		made = append(made, p.name)
		if err := os.WriteFile(filepath.Join(r.out, p.name), []byte(p.name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.manifests(made); err != nil {
		t.Fatal(err)
	}
	text := func(name string) string {
		b, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	sum := sha256.Sum256([]byte("readthru-windows-amd64.zip"))
	digest := hex.EncodeToString(sum[:])
	for _, name := range []string{"SHA256SUMS", "readthru.scoop.json", "readthru.winget.yaml"} {
		if !strings.Contains(text(name), digest) {
			t.Errorf("%s has not the archive's checksum", name)
		}
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(text("readthru.scoop.json")), &v); err != nil || v["version"] != "1.2.3" {
		t.Errorf("scoop: %v, %v", err, v)
	}
	if err := yaml.Unmarshal([]byte(text("readthru.winget.yaml")), &v); err != nil || v["PackageVersion"] != "1.2.3" {
		t.Errorf("winget: %v, %v", err, v)
	}
	if formula := text("readthru.rb"); strings.Count(formula, "sha256 \"") != 4 || strings.Contains(formula, `""`) {
		t.Errorf("homebrew: %s", formula)
	}
}

// Without a tag the version still begins with a digit and sorts by time, and before the first release.
func TestACommitHasANumber(t *testing.T) {
	for _, tt := range []struct{ version, want string }{
		{"v1.2.3", "1.2.3"},
		{"v1.2.3-4-gabc", "1.2.3-4-gabc"},
		{"0123abc", "0.0.0~20231114221320.0123abc"},
		{"abc-dirty", "0.0.0~20231114221320.abc.dirty"},
	} {
		if got := number(tt.version, time.Unix(1700000000, 0).UTC()); got != tt.want {
			t.Errorf("number(%s) = %s, want %s", tt.version, got, tt.want)
		}
	}
}
