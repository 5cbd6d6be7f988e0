package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/readthru/readthru/internal/releases"
)

// The parts of an image layout that we use (OCI image format, image-layout.md, config.md, manifest.md).
type (
	descriptor struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Size        int64             `json:"size"`
		Platform    *platform         `json:"platform,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	platform struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	}
	manifest struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Config        *descriptor  `json:"config,omitempty"`
		Layers        []descriptor `json:"layers,omitempty"`
		Manifests     []descriptor `json:"manifests,omitempty"`
	}
	imageConfig struct {
		platform
		Created time.Time `json:"created"`
		Config  runConfig `json:"config"`
		RootFS  struct {
			Type    string   `json:"type"`
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
	runConfig struct {
		User         string
		Env          []string
		Entrypoint   []string
		Cmd          []string
		WorkingDir   string
		ExposedPorts map[string]struct{}
		Volumes      map[string]struct{}
		Labels       map[string]string
		Healthcheck  *healthcheck // engines know it, the format does not
	}
	healthcheck struct {
		Test     []string
		Interval time.Duration
		Timeout  time.Duration
	}
)

const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"

	nobody = 65532 // the user of distroless images, which is not root
)

// image writes an image for containers, for both architectures of Linux, as a tar archive of an image layout. It holds
// the program, the certificates of public authorities and an empty folder for data: no shell and no browser.
func (r *release) image(ctx context.Context, name string) error {
	l := &layout{blobs: map[string][]byte{}}
	all := manifest{SchemaVersion: 2, MediaType: indexType}
	for _, t := range targets[:2] {
		program, err := r.build(ctx, t)
		if err != nil {
			return err
		}
		layer, err := r.layer(program)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(layer)
		config := imageConfig{platform: platform{t.arch, t.os}, Created: r.time, Config: r.runConfig()}
		config.RootFS.Type, config.RootFS.DiffIDs = "layers", []string{"sha256:" + hex.EncodeToString(sum[:])}
		var packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // a level that exists
		_, _ = z.Write(layer)                                      // a buffer takes everything
		_ = z.Close()
		configured, err := l.addJSON(configType, config)
		if err != nil {
			return err
		}
		one, err := l.addJSON(manifestType, manifest{
			SchemaVersion: 2, MediaType: manifestType, Config: &configured,
			Layers: []descriptor{l.add(layerType, packed.Bytes())},
		})
		if err != nil {
			return err
		}
		one.Platform = &config.platform
		all.Manifests = append(all.Manifests, one)
	}
	index, err := l.addJSON(indexType, all)
	if err != nil {
		return err
	}
	index.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": r.version, "io.containerd.image.name": "readthru:" + r.version,
	}
	return r.writeLayout(l, index, name)
}

// writeLayout writes the container image as an OCI layout in a tar archive, which tools load without a registry.
func (r *release) writeLayout(l *layout, index descriptor, name string) error {
	dir := filepath.Join(r.work, "image")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	top, err := json.Marshal(manifest{SchemaVersion: 2, MediaType: indexType, Manifests: []descriptor{index}})
	if err != nil {
		return err
	}
	var files []file
	add := func(inside string, content []byte) error {
		from := filepath.Join(dir, filepath.Base(inside))
		files = append(files, file{inside, from, 0o644})
		return os.WriteFile(from, content, 0o600)
	}
	if err := add("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)); err != nil {
		return err
	}
	if err := add("index.json", top); err != nil {
		return err
	}
	for digest, content := range l.blobs {
		if err := add("blobs/sha256/"+digest, content); err != nil {
			return err
		}
	}
	return written(name, func(w io.Writer) error { return tarred(w, "", files, r.time) })
}

// runConfig says how the program is run. The proxy is for other containers, the admin port for this one alone: to
// publish it, set READTHRU_ADMIN_LISTEN and READTHRU_ADMIN_TOKEN.
func (r *release) runConfig() runConfig {
	return runConfig{
		User: fmt.Sprintf("%d:%d", nobody, nobody),
		Env: []string{
			"PATH=/usr/bin", "HOME=/data", "READTHRU_DATA_DIR=/data", "READTHRU_PROXY_LISTEN=0.0.0.0:7887",
			"SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
		},
		Entrypoint: []string{"/usr/bin/readthru"}, Cmd: []string{"serve"}, WorkingDir: "/data",
		ExposedPorts: map[string]struct{}{"7887/tcp": {}}, Volumes: map[string]struct{}{"/data": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title": "readthru", "org.opencontainers.image.description": summary,
			"org.opencontainers.image.version": r.version, "org.opencontainers.image.source": releases.Home,
		},
		Healthcheck: &healthcheck{
			Test:     []string{"CMD", "/usr/bin/readthru", "requests", "--limit", "1"},
			Interval: 30 * time.Second, Timeout: 10 * time.Second,
		},
	}
}

// layer returns the image's only layer, a tar archive.
func (r *release) layer(program string) ([]byte, error) {
	roots := filepath.Join(r.work, "roots.pem")
	if err := os.WriteFile(roots, publicRoots(), 0o600); err != nil {
		return nil, err
	}
	users := filepath.Join(r.work, "passwd")
	lines := fmt.Sprintf("root:x:0:0:root:/root:/sbin/nologin\n"+
		"nobody:x:%[1]d:%[1]d:readthru:/data:/sbin/nologin\n", nobody)
	if err := os.WriteFile(users, []byte(lines), 0o600); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, d := range []tar.Header{
		{Name: "data/", Mode: 0o700, Uid: nobody, Gid: nobody}, {Name: "tmp/", Mode: 0o1777},
	} {
		d.Typeflag, d.ModTime, d.Format = tar.TypeDir, r.time, tar.FormatPAX
		if err := t.WriteHeader(&d); err != nil {
			return nil, err
		}
	}
	if err := t.Flush(); err != nil { // the end comes with the files
		return nil, err
	}
	err := tarred(&b, "", []file{
		{"usr/bin/readthru", program, 0o755},
		{"etc/ssl/certs/ca-certificates.crt", roots, 0o644},
		{"etc/passwd", users, 0o644},
		{"usr/share/doc/readthru/LICENSE", "LICENSE", 0o644},
		{"usr/share/doc/readthru/NOTICE", "NOTICE", 0o644},
	}, r.time)
	return b.Bytes(), err
}

// publicRoots returns the certificates of the authorities that Mozilla trusts for every name, in PEM form. Those that
// it trusts for some names only are left out: a file cannot say so.
func publicRoots() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if cert, err := x509.ParseCertificate(root.Certificate); err == nil && root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}) // a buffer takes everything
		}
	}
	return b.Bytes()
}

// layout holds the blobs of an image.
type layout struct {
	blobs map[string][]byte // by their SHA-256 in hexadecimal digits
}

func (l *layout) add(mediaType string, content []byte) descriptor {
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	l.blobs[digest] = content
	return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: int64(len(content))}
}

func (l *layout) addJSON(mediaType string, v any) (descriptor, error) {
	content, err := json.Marshal(v)
	return l.add(mediaType, content), err
}
