package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// archive writes files below a folder as a gzipped tar archive, sorted, owned by nobody in particular, all of one time.
func archive(name, folder string, files []file, at time.Time) error {
	return written(name, func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		return errors.Join(tarred(z, folder, files, at), z.Close())
	})
}

// tarred writes files below a folder as a tar archive, each folder before its files.
func tarred(w io.Writer, folder string, files []file, at time.Time) error {
	t := tar.NewWriter(w)
	folders := map[string]bool{".": true, "/": true}
	for _, f := range sorted(files) {
		name := path.Join(folder, f.name)
		if err := tarFolders(t, path.Dir(name), folders, at); err != nil {
			return err
		}
		content, err := os.ReadFile(f.from)
		if err != nil {
			return err
		}
		h := &tar.Header{Name: name, Mode: f.mode, Size: int64(len(content)), ModTime: at, Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(content); err != nil {
			return err
		}
	}
	return t.Close()
}

// tarFolders writes a folder, and those that it is in, unless done has them.
func tarFolders(t *tar.Writer, name string, done map[string]bool, at time.Time) error {
	if done[name] {
		return nil
	}
	done[name] = true
	if err := tarFolders(t, path.Dir(name), done, at); err != nil {
		return err
	}
	return t.WriteHeader(&tar.Header{
		Name: name + "/", Typeflag: tar.TypeDir, Mode: 0o755, ModTime: at, Format: tar.FormatPAX,
	})
}

// zipped writes files below a folder as a zip archive.
func zipped(name, folder string, files []file, at time.Time) error {
	return written(name, func(w io.Writer) error {
		z := zip.NewWriter(w)
		for _, f := range sorted(files) {
			content, err := os.ReadFile(f.from)
			if err != nil {
				return err
			}
			h := &zip.FileHeader{Name: path.Join(folder, f.name), Method: zip.Deflate, Modified: at}
			h.SetMode(os.FileMode(f.mode)) //nolint:gosec // permission bits
			to, err := z.CreateHeader(h)
			if err != nil {
				return err
			}
			if _, err := to.Write(content); err != nil {
				return err
			}
		}
		return z.Close()
	})
}

// sorted returns the files of an archive by name.
func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.name, b.name) })
}

// written creates the file of an archive with what write writes.
func written(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
