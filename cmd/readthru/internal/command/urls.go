package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/page"
)

// longestList is the most URLs that a list has.
const longestList = 100_000

// errNoList says that a text is no list of URLs.
var errNoList = errors.New("it is no list of URLs")

// ReadURLs reads a list of URLs, one in a line. Blank lines, and those that begin with #, are left out. An error names
// the first line that is no URL; it is errNoList if that is the first line with content.
func ReadURLs(r io.Reader, name string) (urls []string, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := page.Parse(line); err != nil {
			if len(urls) == 0 {
				err = fmt.Errorf("%w: %w", errNoList, err)
			}
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		if urls = append(urls, line); len(urls) > longestList {
			return nil, fmt.Errorf("%s: the list has over %d URLs", name, longestList)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(urls) == 0 {
		return nil, fmt.Errorf("%s: %w: it is empty", name, errNoList)
	}
	return urls, nil
}

// ListedIn returns the URLs of a file that is a list of them; ok is false for any other file.
func ListedIn(name string) (urls []string, ok bool, err error) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(name, ".txt") {
		return nil, false, nil // whoever reads it tells
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false, nil // as above
	}
	defer f.Close() //nolint:errcheck // it was read
	if urls, err = ReadURLs(f, name); errors.Is(err, errNoList) {
		return nil, false, nil
	}
	return urls, true, err
}

// TellFailures says how many of the URLs of a list failed.
func (p *Program) TellFailures(failures int, urls []string) {
	if failures > 0 {
		p.Note("%d of %s failed", failures, terminal.Count(int64(len(urls)), "URL"))
	}
}

// fetchAtOnce is how many of the pages named in one command are fetched at the same time.
const fetchAtOnce = 4

// Fetched is what came of one of several URLs.
type Fetched struct {
	Page *page.Page
	Err  error
}

// FetchEach fetches pages, some at the same time, and calls do with each in the given order. It tells how far it is.
// A page that could not be fetched is an error of do.
func (p *Program) FetchEach(ctx context.Context, b *api.Client, urls []string, r api.FetchRequest,
	do func(i int, got Fetched) error,
) (failures int, last error) {
	results := make([]chan Fetched, len(urls))
	places := make(chan struct{}, fetchAtOnce)
	for i := range urls {
		results[i] = make(chan Fetched, 1)
	}
	go func() {
		for i, raw := range urls {
			places <- struct{}{}
			go func() {
				defer func() { <-places }()
				one := r
				one.URL = raw
				got, err := b.Fetch(ctx, one)
				results[i] <- Fetched{got, err}
			}()
		}
	}()
	waiting := terminal.NewWait(p.Err)
	for i, ch := range results {
		got := terminal.Await(waiting, ch, i, urls)
		err := do(i, got)
		if err == nil {
			continue
		}
		failures++
		if last != nil {
			p.Tell(last) // the caller prints the last one
		}
		last = err
	}
	return failures, last
}
