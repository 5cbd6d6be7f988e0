package server_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/knowledge"
)

// fillFrom fills a new base from files, as the command line does.
func fillFrom(t *testing.T, ops *api.Client, name string, paths ...string) (*api.Filling, error) {
	t.Helper()
	q := api.FilesQuery{Name: name, Description: "of the garden", Paths: paths}
	return ops.FillFromFiles(t.Context(), q, parcelOf(t, paths...))
}

func parcelOf(t *testing.T, paths ...string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	if err := knowledge.PackFiles(t.Context(), &b, paths, ""); err != nil {
		t.Fatal(err)
	}
	return &b
}

// TestNoPathIsReadForWhoAsks tries to have the server read a file, as its own user and with the token.
func TestNoPathIsReadForWhoAsks(t *testing.T) {
	w := newWorld(t, nil)
	addr := w.listen(t)
	file := filepath.Join(t.TempDir(), "note.md")
	write(t, file, "# A note\n\nOf a quince.\n")
	link := func(h tar.Header) string {
		var b bytes.Buffer
		out := tar.NewWriter(&b)
		if err := errors.Join(out.WriteHeader(&h), out.Close()); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const bytesType, jsonType = "Content-Type: application/octet-stream", "Content-Type: application/json"
	for _, tt := range []struct{ name, path, body, typ string }{
		{"a path in place of files", "/api/v1/kbs", `{"name":"x","files":["` + file + `"]}`, jsonType},
		{"a path beside nothing", "/api/v1/kbs/x/files?path=" + file, "", bytesType},
		{
			"a link in place of a file", "/api/v1/kbs/x/files",
			link(tar.Header{Typeflag: tar.TypeSymlink, Name: "/x.md", Linkname: file}), bytesType,
		},
		{
			"a hard link", "/api/v1/kbs/x/files",
			link(tar.Header{Typeflag: tar.TypeLink, Name: file, Linkname: file}), bytesType,
		},
		{"an entry without content", "/api/v1/kbs/x/files", link(tar.Header{Typeflag: tar.TypeReg, Name: file}), bytesType},
	} {
		resp := ask(t, addr, "POST", tt.path, tt.body, tt.typ, "Authorization: Bearer token")
		var f api.Filling
		if err := json.NewDecoder(resp.Body).Decode(&f); resp.StatusCode == http.StatusOK {
			if last := finished(t, w.client, &f, err); last.State != api.JobFailed {
				t.Errorf("%s: %+v, want it failed", tt.name, last)
			}
		} else if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d, want 400", tt.name, resp.StatusCode)
		}
		if _, err := w.know.Base("x"); statusOf(err) != http.StatusNotFound {
			t.Errorf("%s: a base is there: %v", tt.name, err)
		}
	}
	f, err := fillFrom(t, w.client, "garden", file)
	if last := finished(t, w.client, f, err); last.State != api.JobDone {
		t.Fatalf("job %+v", last)
	}
	if resp := ask(t, addr, "POST", "/api/v1/kbs/garden/refresh", ""); resp.StatusCode != http.StatusConflict {
		t.Errorf("to read the files again: status %d, want 409", resp.StatusCode)
	}
}

// A daemon that died between the end of a job, or of a base, and the removal of its files leaves them to the next one.
func TestFilesThatNoJobNeedsAreRemovedAtTheStart(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "note.md")
	write(t, file, "# A note\n\nOf a quince.\n")
	w := newWorldIn(t, dir, nil, nil, nil)
	f, err := fillFrom(t, w.client, "garden", file)
	if last := finished(t, w.client, f, err); last.State != api.JobDone {
		t.Fatalf("job %+v", last)
	}
	w.shut()
	for _, name := range []string{"parcel-" + f.KB.ID + ".tar", "parcel-DELETED.tar", "parcel.123"} {
		write(t, filepath.Join(dir, name), "the user's files")
	}
	newWorldIn(t, dir, nil, nil, nil).server.Memory().Resume()
	if left, err := filepath.Glob(filepath.Join(dir, "parcel*")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}
