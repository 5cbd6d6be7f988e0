package hidden

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/readthru/readthru/page"
)

// originPrefix stands before a name in front matter that is the origin's and could be taken for ours.
const originPrefix = "origin_"

// ownNames are the names by which our front matter and page objects say where a page was read, and when. Those with
// true may name a URL of the page's own host: many sites do, and it claims nothing. Agents trust these names, as this
// program writes them itself.
var ownNames = map[string]bool{
	"url": true, "final_url": true, "canonical_url": true, "normalized_url": true, "source": true, "source_url": true,
	"fetched_at": false, "markdown_source": false, "content_hash": false,
}

// frontMatter marks the names in a text's front matter that only ours may have: "url: https://elsewhere" becomes
// "origin_url: https://elsewhere", so that the data stays and can only be taken for the origin's. It reads every block
// at the top of the text, for a block behind an empty one would be the first that a reader sees. A block that is not
// closed is none, and ends the reading. base is where the text was read, nil if that is not known.
func (r *reporter) frontMatter(md []byte, base *url.URL) []byte {
	var out []byte
	done := 0
	for at := 0; ; {
		at += len(md[at:]) - len(bytes.TrimLeft(md[at:], "\ufeff \t\r\n"))
		line, next := lineAt(md, at)
		if string(line) != "---" {
			break
		}
		closed := false
		for at = next; at < len(md) && !closed; at = next {
			line, next = lineAt(md, at)
			if closed = string(line) == "---" || string(line) == "..."; closed {
				continue
			}
			if name := forgedName(line, base); name >= 0 {
				r.note("front-matter", string(line))
				out = append(append(out, md[done:at+name]...), originPrefix...)
				done = at + name
			}
		}
		if !closed {
			break
		}
	}
	if done == 0 {
		return md
	}
	return append(out, md[done:]...)
}

// lineAt returns the line of front matter at at without white space at its end, and where the next begins. at must be
// within md.
func lineAt(md []byte, at int) (line []byte, next int) {
	next = len(md)
	if n := bytes.IndexByte(md[at:], '\n'); n >= 0 {
		next = at + n + 1
	}
	return bytes.TrimRight(md[at:next], " \t\r\n"), next
}

// forgedName returns where in a line of front matter a name begins that only ours may have, or -1. Lines with
// indentation belong to another name. Quotes and braces before the name do not hide it from a reader of YAML, and so
// are passed over.
func forgedName(line []byte, base *url.URL) int {
	name, value, found := bytes.Cut(line, []byte(":"))
	if !found || len(name) > 40 || len(name) > 0 && (name[0] == ' ' || name[0] == '\t') {
		return -1
	}
	begin := len(name) - len(bytes.TrimLeft(name, `"'{? `))
	mayBeURL, ours := ownNames[strings.ToLower(string(bytes.TrimRight(name[begin:], `"' `)))]
	if !ours || mayBeURL && ofHost(strings.Trim(string(bytes.TrimSpace(value)), `"'`), base) {
		return -1
	}
	return begin
}

// ofHost reports whether an address in front matter is one of the host of base. A "www." before either does not count.
func ofHost(address string, base *url.URL) bool {
	if base == nil || !strings.Contains(address, "://") && !strings.HasPrefix(address, "/") {
		return false
	}
	u, err := page.Resolve(base, address)
	bare := func(host string) string { return strings.TrimPrefix(strings.ToLower(host), "www.") }
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && bare(u.Hostname()) == bare(base.Hostname())
}
