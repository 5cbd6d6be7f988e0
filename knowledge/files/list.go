package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// maxFiles is how many files a folder tree may have.
const maxFiles = 200_000

// sourceFile is a file to be read.
type sourceFile struct {
	path  string // absolute
	named bool   // by the caller, not found in a folder
}

// listFiles returns files and those in folders, each once, in order of their paths within each folder, and none of the
// folder private.
func listFiles(ctx context.Context, paths []string, private string) (files []sourceFile, err error) {
	seen := map[string]bool{}
	add := func(f sourceFile) error {
		if len(files) == maxFiles {
			return fmt.Errorf("more than %d files: add fewer at a time", maxFiles)
		}
		if !seen[f.path] {
			seen[f.path] = true
			files = append(files, f)
		}
		return nil
	}
	for _, path := range paths {
		root, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		info, err := os.Stat(root)
		switch {
		case within(private, root):
			return nil, fmt.Errorf("read %s: files of the data directory are not read", path)
		case err != nil:
			return nil, fmt.Errorf("read files: %w", err)
		case info.Mode().IsRegular():
			if err := add(sourceFile{root, true}); err != nil {
				return nil, err
			}
			continue
		case !info.IsDir():
			return nil, fmt.Errorf("read %s: not a file or folder", path)
		}
		err = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
			hidden := strings.HasPrefix(d.Name(), ".") && at != root
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case d.IsDir() && (hidden || d.Name() == "node_modules" || within(private, at)):
				return fs.SkipDir
			case err == nil && !hidden && d.Type().IsRegular() && formOf(at) != unknownForm:
				return add(sourceFile{path: at})
			}
			return nil // what may not be read holds nothing for us
		})
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	return files, nil
}

// fileForm is what a file holds, as its name promises.
type fileForm int

const (
	unknownForm fileForm = iota
	markdownForm
	textForm
	convertedForm // HTML, PDF
	linesForm
)

// formOf returns the form that the name of a listed file promises.
func formOf(path string) fileForm {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".md", ".markdown", ".mdown", ".mkd", ".mdx":
		return markdownForm
	case ".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org", ".tex", ".log":
		return textForm
	case ".html", ".htm", ".xhtml", ".pdf":
		return convertedForm
	case ".jsonl", ".ndjson":
		return linesForm
	}
	return unknownForm
}

// within reports whether a listed path is a folder or below it, also by links: nothing of the private folder is read.
func within(dir, path string) bool {
	if dir == "" {
		return false
	}
	for _, p := range []*string{&dir, &path} {
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// reasonOf returns why a file could not be listed or read, without its path, which stands beside it.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// URL returns the URL of a listed file.
func URL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive's letter
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
