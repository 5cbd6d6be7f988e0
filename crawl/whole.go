package crawl

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/page"
)

// longestHeader is how many lines a block of front matter may have that names a page in a text of many.
const longestHeader = 30

// Forms in which tools that join the pages of a site to one text, llms-full.txt, name the URL of each: on the line
// below its title (Source: or URL:), in brackets behind it, or in front matter, where Cloudflare's documentation nests
// it.
var (
	titleLine  = lazy.Pattern(`^#{1,2}[ \t]+(.*?)[ \t]*\r?\n?$`)
	behind     = lazy.Pattern(`^(.+?)[ \t]+\(((?:https?:/)?/[^\s()]*)\)$`)
	sourceLine = lazy.Pattern(`(?i)^(?:source|url):[ \t]*((?:https?:/)?/\S*)[ \t]*\r?\n?$`)
	headerURL  = lazy.Pattern(
		`^(?:url|source|source_url|[ \t]+html):[ \t]*["']?((?:https?:/)?/[^\s"']*)["']?[ \t]*\r?\n?$`)
)

// joined is a page in a text of many.
type joined struct {
	form       string // in which its URL is named
	raw, title string
	from, body int // its first line, and the first one after what names it
}

// whole returns the pages in a text that joins those of a site, each under its own URL, and what stands before the
// first one under that of the text. It returns nil unless the text names two pages of the site. One that names those of
// other sites could put words into their mouths, so these are none.
func (s scope) whole(at *url.URL, text string) (pages []*Page) {
	lines, found := s.joined(at, text)
	if len(found) < 2 {
		return nil
	}
	known, texts := map[string]int{}, []*strings.Builder{}
	add := func(raw, title, text string) {
		if text = parted(text); text == "" {
			return
		}
		i, again := known[raw] // a page in parts
		if !again {
			i = len(pages)
			known[raw] = i
			pages, texts = append(pages, &Page{URL: raw, Title: cmp.Or(title, page.TitleOf([]byte(text)))}),
				append(texts, &strings.Builder{})
			if title != "" && !strings.HasPrefix(text, "# ") {
				texts[i].WriteString("# " + title + "\n")
			}
		}
		if texts[i].Len() > 0 {
			texts[i].WriteString("\n")
		}
		texts[i].WriteString(text + "\n")
	}
	add(at.String(), "", strings.Join(lines[:found[0].from], ""))
	for i, j := range found {
		end := len(lines)
		if i+1 < len(found) {
			end = found[i+1].from
		}
		add(j.raw, j.title, strings.Join(lines[j.body:end], ""))
	}
	for i, p := range pages {
		p.Markdown = texts[i].String()
		sum := sha256.Sum256([]byte(p.Markdown))
		p.Hash = hex.EncodeToString(sum[:])
	}
	return pages
}

// parted returns the text of a page without what parts it from the others: blank lines, rules and tags of its own.
func parted(text string) string {
	for {
		text = strings.TrimRight(text, " \t\r\n")
		i := strings.LastIndexByte(text, '\n') + 1
		switch last := strings.TrimSpace(text[i:]); {
		case last == "<page>", last == "</page>", len(last) > 2 && strings.Trim(last, last[:1]) == "" &&
			strings.ContainsAny(last, "-*="):
			text = text[:i]
		default:
			return strings.TrimLeft(text, "\r\n")
		}
	}
}

// joined returns the lines of a text, and the pages of the site that it names, in the one form that most of them have:
// a tool has one, and what else looks like it is content.
func (s scope) joined(at *url.URL, text string) (lines []string, found []joined) {
	var fenced []bool
	for line, kind := range markdown.Lines(text) {
		lines, fenced = append(lines, line), append(fenced, kind.Fenced())
	}
	count := map[string]int{}
	for i := range lines {
		if fenced[i] {
			continue
		}
		j, ok := titled(lines, i)
		if !ok {
			j, ok = headed(lines, i)
		}
		if !ok {
			continue
		}
		u, err := page.Resolve(at, j.raw)
		if err != nil {
			continue
		}
		if u, ok = s.site(u); ok && u.String() != at.String() {
			j.raw = u.String()
			found = append(found, j)
			count[j.form]++
		}
	}
	usual := ""
	for _, j := range found {
		if count[j.form] > count[usual] {
			usual = j.form
		}
	}
	return lines, slices.DeleteFunc(found, func(j joined) bool { return j.form != usual })
}

// titled returns the page that begins at a line with its title and its URL, behind the title or on one of the next two
// lines.
func titled(lines []string, i int) (j joined, ok bool) {
	title := titleLine().FindStringSubmatch(lines[i])
	if title == nil {
		return j, false
	}
	if m := behind().FindStringSubmatch(title[1]); m != nil {
		return joined{"behind", m[2], m[1], i, i + 1}, true
	}
	for n := i + 1; n < min(i+3, len(lines)); n++ {
		if m := sourceLine().FindStringSubmatch(lines[n]); m != nil {
			return joined{"below", m[1], title[1], i, n + 1}, true
		}
		if strings.TrimSpace(lines[n]) != "" {
			break
		}
	}
	return j, false
}

// headed returns the page that begins at a line with front matter that has its URL.
func headed(lines []string, i int) (j joined, ok bool) {
	if strings.TrimSpace(lines[i]) != "---" {
		return j, false
	}
	for n := i + 1; n < min(i+longestHeader, len(lines)); n++ {
		if m := headerURL().FindStringSubmatch(lines[n]); m != nil && j.raw == "" {
			j.raw = m[1]
		}
		if strings.TrimSpace(lines[n]) == "---" {
			j.form, j.from, j.body = "header", i, n+1
			j.title = page.TitleOf([]byte(strings.Join(lines[i:n+1], "")))
			return j, j.raw != ""
		}
	}
	return j, false
}

// yieldWhole yields the pages of a text that joins those of the site, as far as the patterns want them, the origin lets
// them be used, and the limit goes. The text was the only request.
func (r *run) yieldWhole(ctx context.Context, s scope, pages []*Page) error {
	f := r.frontier
	for i, p := range pages {
		u, err := url.Parse(p.URL)
		if err != nil || !s.wants(u) {
			continue
		}
		if f.report.Pages >= f.limit {
			f.late = append(f.late, item{URL: p.URL})
			continue
		}
		e := Event{URL: p.URL, Outcome: r.o.compare(p), Page: p}
		v, err := r.Fetcher.Allowed(ctx, u)
		if err != nil {
			return err
		}
		if err := r.Fetcher.Unwanted(u, v.Preferences); err != nil {
			e.Outcome, e.Page, e.Err = Forbidden, nil, err
		} else if f.has(p.Hash) {
			e.Outcome, e.Page = Duplicate, nil
		} else {
			f.report.Pages++
			f.hashes[p.Hash] = struct{}{}
		}
		f.report.count(p.URL, e.Outcome)
		e.I, e.Total = f.report.Pages, min(f.limit, f.report.Pages+len(pages)-i-1)
		if err := r.yield(e); err != nil {
			return err
		}
	}
	return nil
}
