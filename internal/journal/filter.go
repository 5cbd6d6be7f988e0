package journal

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/readthru/readthru/page"
)

// Filter selects requests. The zero value matches all.
type Filter struct{ terms []term }

// term is one condition of a filter, and a clue by which files and lines are skipped without decoding them.
type term struct {
	not   bool
	match func(*Entry) bool
	clue  clue
}

// FilterHelp says how filters are written.
const FilterHelp = "words of the URL (https://go.dev/doc), and host:, door: (mcp), method:, " +
	"status: (404, 4xx, >=400), outcome:, why:, client:, user:, session:, agent:, trace:, type:, source:, " +
	"step: (browser), warning: (hidden), ms: (>100), bytes: (>10000), tokens: (>9000), is: (failed), " +
	"since: (today, 36h, 7d, 2026-01-31), until:; host:, door:, method:, status:, outcome: and step: take lists " +
	"(4xx,5xx); a minus before one excludes what it matches"

// Sent is the filter for requests in which a page or its URL was given to markdown.new or to a model.
const Sent = "step:markdown_new,llm"

// The terms about when a request began.
const (
	sinceTerm = "since"
	untilTerm = "until"
)

// texts are the terms that look for text, by their names.
var texts = map[string]func(*Entry) []string{
	"method":  func(e *Entry) []string { return []string{e.Method} },
	"outcome": func(e *Entry) []string { return []string{e.Outcome} },
	"door":    func(e *Entry) []string { return []string{e.Door} },
	"why":     func(e *Entry) []string { return []string{e.Why, e.Tunnel, e.Taken, e.Rule, e.Error, e.Section} },
	"client":  func(e *Entry) []string { return []string{e.Client} },
	"user":    func(e *Entry) []string { return []string{e.User} },
	"session": func(e *Entry) []string { return []string{e.SessionOf()} },
	"agent":   func(e *Entry) []string { return []string{e.Agent} },
	"trace":   func(e *Entry) []string { return []string{e.Trace} },
	"type":    func(e *Entry) []string { return []string{e.Type} },
	"source":  func(e *Entry) []string { return []string{e.Source} },
	"url":     func(e *Entry) []string { return []string{e.URL} },
	"warning": func(e *Entry) []string { return e.Warnings },
}

// known are the terms that have few values, and those values: another one is a slip, and would find nothing. Methods
// are those of RFC 9110, PATCH, QUERY, and those of WebDAV.
var known = map[string][]string{
	"outcome": Outcomes,
	"door":    Doors,
	"method": {
		"get", "head", "post", "put", "patch", "delete", "connect", "options", "trace", "query", "propfind", "proppatch",
		"mkcol", "copy", "move", "lock", "unlock", "report", "search",
	},
}

// numbers are the terms that compare.
var numbers = map[string]func(*Entry) int64{
	"status": func(e *Entry) int64 { return int64(e.Status) },
	"ms":     func(e *Entry) int64 { return e.MS },
	"bytes":  func(e *Entry) int64 { return e.BytesOut },
	"tokens": func(e *Entry) int64 { return int64(e.Tokens) },
}

// members are the members of a line that have these numbers.
var members = map[string]string{"status": `"status":`, "ms": `"ms":`, "bytes": `"bytes_out":`, "tokens": `"tokens":`}

// ParseFilter reads a filter: terms between spaces, all of which must match. Quotes keep spaces together.
func ParseFilter(text string) (Filter, error) {
	var f Filter
	for _, word := range split(text) {
		var t term
		word, t.not = strings.CutPrefix(word, "-")
		name, value, named := strings.Cut(word, ":")
		name = strings.ToLower(name)
		value = strings.ToLower(strings.ReplaceAll(value, `"`, ""))
		switch {
		case !named || name == "http" || name == "https":
			value = strings.ToLower(strings.ReplaceAll(word, `"`, ""))
			t.match, t.clue = contains(texts["url"], value), clueOf("", value, "")
		case name == "host":
			t.match, t.clue = ofHosts(strings.Split(value, ","))
		case known[name] != nil:
			values := strings.Split(value, ",")
			for _, v := range values {
				if !slices.Contains(known[name], v) {
					return Filter{}, fmt.Errorf("filter %s: %q is none of %s", name, v, strings.Join(known[name], ", "))
				}
			}
			of := texts[name]
			t.match = func(e *Entry) bool { return slices.Contains(values, strings.ToLower(of(e)[0])) }
			if name != "door" || !slices.Contains(values, DoorProxy) { // which older programs did not write
				t.clue = cluesOf(`"`+name+`":"`, values, `"`)
			}
		case name == "is":
			if value != "failed" {
				return Filter{}, fmt.Errorf("filter is: %q is not failed, which is all that it knows", value)
			}
			t.match = (*Entry).Failed
		case name == "step":
			steps := strings.Split(value, ",")
			t.match = tried(steps)
			t.clue = cluesOf(`"step":"`, steps, `"`)
		case name == sinceTerm, name == untilTerm:
			at, err := ParseSince(value, time.Now())
			if err != nil {
				return Filter{}, fmt.Errorf("%s: %w", name, err)
			}
			within := func(began time.Time) bool { return began.Before(at) == (name == untilTerm) }
			t.match, t.clue = func(e *Entry) bool { return within(e.Time) }, clue{within: within}
		case numbers[name] != nil:
			compare, err := comparisons(name, value)
			if err != nil {
				return Filter{}, err
			}
			of := numbers[name]
			t.match = func(e *Entry) bool { return compare(of(e)) }
			t.clue = clue{number: []byte(members[name]), passes: compare}
		case texts[name] != nil:
			t.match = contains(texts[name], value)
			// a line has no default session
			if name != "session" || !strings.Contains(DefaultSession, value) && !strings.Contains(value, "+") {
				t.clue = clueOf("", value, "")
			}
		default:
			return Filter{}, fmt.Errorf("unknown filter %s: known are %s", name, FilterHelp)
		}
		f.terms = append(f.terms, t)
	}
	return f, nil
}

// ParseSince reads a time: RFC 3339, a day, an age (36h, 7d) before now, or today, which begins at
// midnight where now is.
func ParseSince(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			return t, nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if text == "today" {
		return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location()), nil
	}
	days, ok := strings.CutSuffix(text, "d")
	if n, err := strconv.Atoi(days); ok && err == nil && n >= 0 && n < 100_000 {
		return now.AddDate(0, 0, -n), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time like 2026-01-31, 2026-01-31T12:00:00Z, 36h, 7d or today", text)
}

// InTime parts the terms of a filter that are about its time from the others.
func InTime(filter string) (rest, times string) {
	var kept, of []string
	for _, word := range split(filter) {
		name, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(word, "-")), ":")
		if name == sinceTerm || name == untilTerm {
			of = append(of, word)
		} else {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " "), strings.Join(of, " ")
}

// OfUser returns the filter for those of the requests that a user made.
func (f Filter) OfUser(name string) Filter {
	mine := term{match: func(e *Entry) bool { return e.User == name }}
	return Filter{append(slices.Clip(f.terms), mine)}
}

// Naming returns the filter for requests to a host, and for those that name it in an address elsewhere: in a field such
// as Referer or Location, in another URL, or in what is told of them.
func Naming(host string) Filter {
	host = strings.ToLower(host)
	names := func(e *Entry) bool {
		if e.Host() == host {
			return true
		}
		texts := []string{e.URL, string(e.Asked), string(e.Answered), e.Why, e.Rule, e.Error}
		for _, a := range e.Attempts {
			texts = append(texts, a.Reason)
		}
		return slices.ContainsFunc(texts, func(text string) bool { return namesHost(strings.ToLower(text), host) })
	}
	return Filter{[]term{{match: names, clue: clueOf("", host, "")}}}
}

// namesHost reports whether a host stands in a text as a whole name: not as the end or the beginning of another one.
func namesHost(text, host string) bool {
	for {
		before, after, found := strings.Cut(text, host)
		if !found {
			return false
		}
		if !endsInName(before) && !beginsInName(after) {
			return true
		}
		text = after
	}
}

func endsInName(text string) bool {
	return text != "" && (isNameByte(text[len(text)-1]) || text[len(text)-1] == '.')
}

// beginsInName reports whether a text goes on with a name that stands before it. A dot may end a sentence, or be the
// root.
func beginsInName(text string) bool {
	text = strings.TrimPrefix(text, ".")
	return text != "" && isNameByte(text[0])
}

func isNameByte(c byte) bool {
	return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= utf8.RuneSelf
}

// split cuts the text of a filter at spaces that are not in quotes.
func split(text string) []string {
	quoted := false
	return strings.FieldsFunc(text, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return !quoted && (r == ' ' || r == '\t')
	})
}

// tried matches requests for which one of some steps of fetch.cascade was tried.
func tried(steps []string) func(*Entry) bool {
	return func(e *Entry) bool {
		return slices.ContainsFunc(e.Attempts, func(a page.Attempt) bool {
			return a.Outcome != page.Skipped && slices.Contains(steps, a.Step)
		})
	}
}

// contains returns a condition: one of an entry's texts has a part, which is in lower case.
func contains(of func(*Entry) []string, part string) func(*Entry) bool {
	return func(e *Entry) bool {
		return slices.ContainsFunc(of(e), func(text string) bool {
			return strings.Contains(strings.ToLower(text), part)
		})
	}
}

// comparisons reads a list of what a number may be: one of them is enough.
func comparisons(name, list string) (func(int64) bool, error) {
	var ways []func(int64) bool
	for text := range strings.SplitSeq(list, ",") {
		compare, err := comparison(name, text)
		if err != nil {
			return nil, err
		}
		ways = append(ways, compare)
	}
	return func(v int64) bool {
		return slices.ContainsFunc(ways, func(compare func(int64) bool) bool { return compare(v) })
	}, nil
}

// comparison reads the condition of a numeric term of a filter: 404, 4xx, >100, >=100, <100 or <=100.
func comparison(name, text string) (func(int64) bool, error) {
	if class, ok := strings.CutSuffix(text, "xx"); ok {
		if n, err := strconv.ParseInt(class, 10, 64); err == nil {
			return func(v int64) bool { return v/100 == n }, nil
		}
	}
	operator := strings.TrimRight(text, "0123456789")
	n, err := strconv.ParseInt(text[len(operator):], 10, 64)
	if err == nil {
		switch operator {
		case "", "=":
			return func(v int64) bool { return v == n }, nil
		case ">":
			return func(v int64) bool { return v > n }, nil
		case ">=":
			return func(v int64) bool { return v >= n }, nil
		case "<":
			return func(v int64) bool { return v < n }, nil
		case "<=":
			return func(v int64) bool { return v <= n }, nil
		}
	}
	return nil, fmt.Errorf("filter %s: %q is not a number like 404, 4xx or >=400", name, text)
}

// ofHosts returns the condition that a request went to one of some hosts, or to a host below one, and its clue.
func ofHosts(hosts []string) (func(*Entry) bool, clue) {
	var names, parts []string
	for _, host := range hosts {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name // as in a URL; the port is not compared
		}
		names, parts = append(names, host), append(parts, strings.TrimPrefix(host, "*."))
	}
	return func(e *Entry) bool {
		of := e.Host()
		return slices.ContainsFunc(names, func(name string) bool {
			return of == name || strings.HasSuffix(of, "."+strings.TrimPrefix(name, "*."))
		})
	}, cluesOf("", parts, "")
}

// Failed reports whether something went wrong, whoever is to blame: the status says so, or the outcome, as of a CONNECT
// whose client rejects our certificate after its 200.
func (e *Entry) Failed() bool { return e.Status >= 400 || e.Outcome == Failed || e.Outcome == Refused }

// AsAgents returns filters that look for an agent where the given one looks for a client or a word of the URL, which is
// what somebody may have meant who writes client:cursor.
func AsAgents(filter string) (others []string) {
	words := split(filter)
	for i, word := range words {
		name, value, named := strings.Cut(word, ":")
		switch {
		case !named && !strings.HasPrefix(word, "-"):
			value = word
		case !strings.EqualFold(name, "client"):
			continue
		}
		other := slices.Clone(words)
		other[i] = "agent:" + value
		others = append(others, strings.Join(other, " "))
	}
	return others
}

// Match reports whether a request passes the filter.
func (f Filter) Match(e *Entry) bool {
	return !slices.ContainsFunc(f.terms, func(t term) bool { return t.match(e) == t.not })
}

// Host returns the host of the request's target, in lower case and without port.
func (e *Entry) Host() string {
	target := e.URL
	if !strings.Contains(target, "://") {
		target = "//" + target // of a CONNECT
	}
	u, err := url.Parse(target)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
