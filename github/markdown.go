package github

import (
	"bytes"
	"net/url"
	"path"
	"strings"

	"readthru/convert"
	"readthru/markdown"
)

// readmeMarkdown returns a README as markdown that other text can follow: with absolute links, without what its readers
// do not see, and with its last fence closed. hidden is the number of pieces removed. links resolves an address
// relative to the README's folder.
func readmeMarkdown(name string, content []byte, links func(address string) *url.URL) (md []byte, hidden int) {
	text := bytes.ToValidUTF8(bytes.TrimPrefix(content, []byte("\ufeff")), []byte("\ufffd"))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if !isMarkdown(name) {
		language := "text"
		if strings.EqualFold(path.Ext(name), ".rst") {
			language = "rst"
		}
		return fenced(language, text), 0
	}
	shown, hidden := withoutComments(string(text))
	return convert.RelativeLinks([]byte(strings.TrimSpace(shown)+"\n"), links), hidden
}

// withoutComments returns markdown without comments, which readers do not see, and with its last fence closed. An open
// comment hides the rest. hidden is the number of comments.
func withoutComments(text string) (shown string, hidden int) {
	var b strings.Builder
	var r markdown.Reader // of what is shown
	within := false
	begins := 0 // where the line that is being written begins
	for line := range strings.Lines(text) {
		if !within && begins == b.Len() {
			next := r
			if next.Line([]byte(strings.TrimSuffix(line, "\n"))).Fenced() {
				r = next
				b.WriteString(line)
				begins = b.Len()
				continue
			}
		}
		for line != "" {
			if within {
				_, rest, ended := strings.Cut(line, "-->")
				if within = !ended; within {
					rest = ""
				}
				line = rest
				continue
			}
			begin := commentStart([]byte(line))
			if begin < 0 {
				b.WriteString(line)
				break
			}
			b.WriteString(line[:begin])
			line, within = line[begin+len("<!--"):], true
			hidden++
		}
		if written := b.String()[begins:]; strings.HasSuffix(written, "\n") {
			r.Line([]byte(strings.TrimSuffix(written, "\n")))
			begins = b.Len()
		}
	}
	if fence, open := r.Fence(); open {
		b.WriteString("\n" + fence.Closing() + "\n")
	}
	return b.String(), hidden
}

// commentStart returns where the first comment begins in a line, outside code spans; -1 when there is none.
func commentStart(line []byte) int {
	for at := 0; at < len(line); at++ {
		switch {
		case line[at] == '`':
			_, n := markdown.InlineCode(line[at:])
			at += n - 1
		case bytes.HasPrefix(line[at:], []byte("<!--")):
			return at
		}
	}
	return -1
}

// fenced returns text as a fenced code block that no line of text closes.
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

// linksOf returns a function that resolves relative addresses in a file of the target's repository: from the file's
// folder, or from the top when an address begins with a slash. An address of a picture becomes the URL of its content,
// others that of the page showing the file. The function returns nil for an address outside the repository.
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
		u := t.base.JoinPath(t.Owner, t.Repo, "blob", ref, where)
		if isPicture(where) {
			if u = t.base.JoinPath(t.Owner, t.Repo, "raw", ref, where); t.raw != nil {
				u = t.raw.JoinPath(t.Owner, t.Repo, ref, where)
			}
		}
		u.RawQuery, u.Fragment = to.RawQuery, to.Fragment
		return u
	}
}

func isPicture(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".bmp", ".ico", ".mp4", ".webm", ".mov":
		return true
	}
	return false
}
