package github

import (
	"bytes"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/markdown"
)

// readmeMarkdown returns a README, or a comment, as markdown that other text can follow: with absolute links, without
// what its readers do not see, and with its last fence closed. What is removed counts in p. links resolves an address
// relative to the README's folder. A README that is not markdown is fenced.
func (p *Page) readmeMarkdown(name string, content []byte, links func(address string) *url.URL) []byte {
	text := bytes.ToValidUTF8(bytes.TrimPrefix(content, []byte("\ufeff")), []byte("\ufffd"))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if !isMarkdown(name) {
		language := "text"
		if strings.EqualFold(path.Ext(name), ".rst") {
			language = "rst"
		}
		return p.fenced(language, text)
	}
	shown := p.count(convert.CleanMarkdown(text, "", nil))
	shown = append(bytes.TrimSpace(shown), '\n')
	return convert.RelativeLinks(closed(shown), links)
}

// closed returns markdown with its last fence closed, which would swallow what we write after it.
func closed(md []byte) []byte {
	var r markdown.Reader
	for line := range bytes.Lines(md) {
		r.Line(bytes.TrimSuffix(line, []byte("\n")))
	}
	if fence, open := r.Fence(); open {
		return slices.Concat(md, []byte(fence.Closing()+"\n"))
	}
	return md
}

// count counts in p what was removed from the markdown of a text, and returns the text.
func (p *Page) count(c convert.Cleaned) []byte {
	for _, n := range c.Removed.Counts {
		p.hidden += n
	}
	return c.Text
}

// fenced returns the text of a file as a fenced code block of markdown without invisible characters, which count in p.
func (p *Page) fenced(language string, text []byte) []byte {
	return fenced(language, p.count(convert.CleanText(text, "")))
}

// fenced returns text as a fenced code block of markdown that no line of text closes: its fence is longer than any run
// of backticks in it.
func fenced(language string, text []byte) []byte {
	fence := "```"
	for run := range strings.FieldsFuncSeq(string(text), func(r rune) bool { return r != '`' }) {
		if len(run) >= len(fence) {
			fence = strings.Repeat("`", len(run)+1)
		}
	}
	var b bytes.Buffer
	b.Grow(len(text) + 2*len(fence) + len(language) + 3)
	b.WriteString(fence + language + "\n")
	b.Write(text)
	if !bytes.HasSuffix(text, []byte("\n")) {
		b.WriteString("\n")
	}
	b.WriteString(fence + "\n")
	return b.Bytes()
}

// linksOf returns a function that, for markdown, resolves relative addresses in a file of the target's repository: from
// the file's folder, or from the top when an address begins with a slash. An address of a picture becomes the URL of
// its content, others that of the page showing the file. The function returns nil for an address outside the
// repository, and for an absolute one. ref is escaped.
func (t *Target) linksOf(ref, file string) func(string) *url.URL {
	return func(address string) *url.URL {
		to, err := url.Parse(address)
		if err != nil || to.Host != "" {
			return nil
		}
		where := to.Path
		switch {
		case where == "":
			where = file
		case !strings.HasPrefix(where, "/"):
			where = path.Join(path.Dir(file), where)
		}
		where = path.Clean(strings.TrimLeft(where, "/"))
		if where == ".." || strings.HasPrefix(where, "../") {
			return nil
		}
		u := t.forge().blob(t, ref, escape(where))
		if isPicture(where) {
			u = t.forge().raw(t, ref+"/"+escape(where))
		}
		u.RawQuery, u.Fragment = to.RawQuery, to.Fragment
		return u
	}
}

// isPicture reports, for links in markdown, whether a file is shown as a picture or film, by its name: pages show its
// content, not the page about it.
func isPicture(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".bmp", ".ico", ".mp4", ".webm", ".mov":
		return true
	}
	return false
}
