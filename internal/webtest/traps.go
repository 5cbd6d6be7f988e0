package webtest

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// A Trap is a part of a site that has no end. Nothing in its addresses says so, only that its pages say no more than
// those before.
type Trap struct {
	Name, Path string // where it begins; all of it is at or below it
	links      func(r *http.Request) (says string, links []string)
}

// Traps are four of them.
var Traps = []Trap{
	{"a query that grows", "/tour", func(r *http.Request) (string, []string) {
		way := r.FormValue("via")
		return "Two doors lead on from this hall, one of them to the garden and the other to the kitchen.",
			[]string{"/tour?via=" + way + "l", "/tour?via=" + way + "r"}
	}},
	{"a path that grows", "/plan", func(r *http.Request) (string, []string) {
		at := strings.TrimSuffix(r.URL.Path, "/")
		return "The plan of this floor shows the rooms " + strings.ReplaceAll(strings.Trim(at, "/"), "/", ", ") + ".",
			[]string{at + "/north", at + "/south/hall"}
	}},
	{"days without end", "/diary/739000", func(r *http.Request) (string, []string) {
		day, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/diary/"))
		of := []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}[day%7]
		return fmt.Sprintf("%s %d. Nothing is planned for this day of the year yet, come back later.", of, day),
			[]string{fmt.Sprintf("/diary/%d", day+1), fmt.Sprintf("/diary/%d", day-1)}
	}},
	{"filters in any order", "/goods", chosenGoods},
}

// chosenGoods is a list of goods with a filter for each of their properties, also of those that are chosen already.
func chosenGoods(r *http.Request) (string, []string) {
	query := strings.FieldsFunc(r.URL.RawQuery, func(c rune) bool { return c == '&' })
	var says strings.Builder
	for i, thing := range []string{"chair", "table", "lamp", "shelf", "bed", "desk"} {
		properties := []string{
			"p=" + []string{"red", "green"}[i%2], "q=" + []string{"oak", "steel", "glass"}[i%3],
			"r=" + []string{"small", "large"}[i/3],
		}
		if !slices.ContainsFunc(query, func(q string) bool { return !slices.Contains(properties, q) }) {
			fmt.Fprintf(&says, "The %s is one of the goods that we make and send to any place on request.</p><p>", thing)
		}
	}
	var links []string
	for _, more := range []string{"p=red", "p=green", "q=oak", "q=steel", "q=glass", "r=small", "r=large"} {
		links = append(links, "/goods?"+strings.Join(append(slices.Clone(query), more), "&"))
	}
	return says.String(), links
}

// TrapAt returns the trap that a path is of, or nil.
func TrapAt(path string) *Trap {
	first := strings.SplitN(path, "/", 3)[1]
	i := slices.IndexFunc(Traps, func(t Trap) bool { return strings.SplitN(t.Path, "/", 3)[1] == first })
	if i < 0 {
		return nil
	}
	return &Traps[i]
}

// ServeHTTP answers with a page.
func (t *Trap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	says, links := t.links(r)
	var menu strings.Builder
	for _, link := range links {
		fmt.Fprintf(&menu, "<li><a href=%q>on</a></li>", html.EscapeString(link))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w, "<!doctype html><title>%s</title><main><h1>%[1]s</h1><p>%s</p></main><nav><ul>%s</ul></nav>",
		html.EscapeString(r.URL.Path), says, menu.String()) // the client may have left
}
