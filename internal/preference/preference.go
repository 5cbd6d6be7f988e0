// Package preference reads what origins say about how their content may be used: by search engines, as input of a
// model, to train one.
//
// There are four ways to say it, and each may stand in the fields of a response, in the page or in robots.txt:
//
//   - Content-Usage (draft-ietf-aipref-attach-05 of August 2026, with the vocabulary of draft-ietf-aipref-vocab-08 of
//     September 2026): a Dictionary of Structured Fields, train-ai=n, search=y;
//   - Content-Signal (contentsignals.org, September 2025; draft-romm-aipref-contentsignals): search=yes, ai-train=no;
//   - X-Robots-Tag and <meta name=robots>: noindex, noarchive, nosnippet, none, and noai, which some sites invented.
//
// A malformed statement says nothing, as the drafts ask: a use that nobody speaks of is neither allowed nor denied.
// What is done about a preference is decided by those who fetch.
package preference

import (
	"net/http"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"

	"github.com/readthru/readthru/page"
)

// maxStatement is the longest statement that is read, in bytes. All uses take less than a hundred.
const maxStatement = 1 << 10

// maxLines is the number of lines of one field that are read.
const maxLines = 20

// OfHeader returns the preferences in the fields of a response. token is our product token, as in robots.txt: a line of
// X-Robots-Tag may begin with the name of the only crawler that it concerns.
func OfHeader(h http.Header, token string) page.Preferences {
	list := usage(h["Content-Usage"], page.InHeader)
	for _, line := range limited(h["Content-Signal"]) {
		list = append(list, signals(line, page.InHeader)...)
	}
	for _, line := range limited(h["X-Robots-Tag"]) {
		rules := line
		if name, rest, ok := strings.Cut(line, ":"); ok && isToken(name) && !isRobotsRule(name) {
			if !strings.EqualFold(strings.TrimSpace(name), token) {
				continue
			}
			rules = rest
		}
		list = append(list, robotsRules(rules, "X-Robots-Tag: ", page.InHeader)...)
	}
	return list
}

// OfMeta returns the preferences in the content of <meta name=robots>.
func OfMeta(content string) page.Preferences {
	return robotsRules(content, "robots: ", page.InMeta)
}

// OfRobots returns the preferences in the value of a line of robots.txt, without its path. key is the lower-case key of
// the line; the result is nil if it is neither content-usage nor content-signal.
func OfRobots(key, value string) page.Preferences {
	switch key {
	case "content-usage":
		return usage([]string{value}, page.InRobots)
	case "content-signal":
		return signals(value, page.InRobots)
	}
	return nil
}

// SplitRobots returns the path pattern that the value of a line in robots.txt begins with, and the statement after it
// (draft-ietf-aipref-attach-05, "Processing Content-Usage Rules"). Without a path, the pattern is "/".
func SplitRobots(value string) (pattern, statement string) {
	if !strings.HasPrefix(value, "/") {
		return "/", value
	}
	pattern, statement = value, ""
	if i := strings.IndexAny(value, " \t"); i >= 0 {
		pattern, statement = value[:i], strings.TrimSpace(value[i:])
	}
	return pattern, statement
}

// usage reads the preferences in the lines of Content-Usage (vocab-08, "Processing Algorithm"). A value that is no
// token y or n says nothing, and of several values for one key the last counts.
func usage(lines []string, in string) (list page.Preferences) {
	lines = limited(lines)
	if len(lines) == 0 {
		return nil
	}
	members, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return nil
	}
	for _, label := range []struct {
		name string
		use  page.Use
	}{{"train-ai", page.UseTrain}, {"search", page.UseSearch}} {
		member, _ := members.Get(label.name)
		item, _ := member.(httpsfv.Item)
		if value, ok := item.Value.(httpsfv.Token); ok && (value == "y" || value == "n") {
			list = append(list, page.Preference{
				Use: label.use, Allowed: value == "y", Says: "Content-Usage: " + label.name + "=" + string(value), In: in,
			})
		}
	}
	return list
}

// signals reads the preferences in a line of Content-Signal: members name=yes or name=no, apart by commas. Some sites
// write allow and disallow for these.
func signals(line, in string) (list page.Preferences) {
	if len(line) > maxStatement {
		return nil
	}
	for member := range strings.SplitSeq(line, ",") {
		name, value, _ := strings.Cut(member, "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.ToLower(strings.TrimSpace(value))
		switch use := page.Use(name); use {
		case page.UseSearch, page.UseInput, page.UseTrain:
			if slices.Contains([]string{"yes", "no", "allow", "disallow"}, value) {
				list = append(list, page.Preference{
					Use: use, Allowed: value == "yes" || value == "allow", Says: "Content-Signal: " + name + "=" + value, In: in,
				})
			}
		}
	}
	return list
}

// denials are what rules for robots deny. Google and Bing document the first four. DeviantArt introduced noai in 2022,
// against training; sites use it against any use by a model.
var denials = map[string][]page.Use{
	"noindex":   {page.UseIndex},
	"none":      {page.UseIndex},
	"noarchive": {page.UseArchive},
	"nosnippet": {page.UseSnippet},
	"noai":      {page.UseInput, page.UseTrain},
}

// robotsRules reads the preferences in a list of rules for robots, apart by commas.
func robotsRules(line, prefix, in string) (list page.Preferences) {
	if len(line) > maxStatement {
		return nil
	}
	for rule := range strings.SplitSeq(line, ",") {
		rule = strings.ToLower(strings.TrimSpace(rule))
		for _, use := range denials[rule] {
			list = append(list, page.Preference{Use: use, Says: prefix + rule, In: in})
		}
	}
	return list
}

// isRobotsRule reports whether a word before a colon is a rule with a value, and no crawler's name.
func isRobotsRule(word string) bool {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "max-snippet", "max-image-preview", "max-video-preview", "unavailable_after":
		return true
	}
	return false
}

// isToken reports whether a text can be the name of a crawler, whose preferences a line states.
func isToken(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && !strings.ContainsAny(s, " ,;=\"")
}

// limited returns the lines of preferences that are read: short ones, and not too many.
func limited(lines []string) (kept []string) {
	for _, line := range lines[:min(len(lines), maxLines)] {
		if len(line) <= maxStatement {
			kept = append(kept, line)
		}
	}
	return kept
}

// Malformed returns the fields of a response whose statements say nothing because they are malformed, as they came.
func Malformed(h http.Header) (fields []string) {
	if lines := h["Content-Usage"]; len(lines) > 0 {
		if _, err := httpsfv.UnmarshalDictionary(limited(lines)); err != nil || len(limited(lines)) < len(lines) {
			fields = append(fields, "Content-Usage: "+strings.Join(lines, ", "))
		}
	}
	for _, line := range h["Content-Signal"] {
		if signals(line, page.InHeader) == nil {
			fields = append(fields, "Content-Signal: "+line)
		}
	}
	return fields
}

// MalformedRobots returns the statements of a robots.txt that say nothing because they are malformed, as they came.
func MalformedRobots(text string) (statements []string) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		name, value, _ := strings.Cut(line, ":")
		if name = http.CanonicalHeaderKey(strings.TrimSpace(name)); name == "Content-Usage" || name == "Content-Signal" {
			_, statement := SplitRobots(strings.TrimSpace(value))
			statements = append(statements, Malformed(http.Header{name: {statement}})...)
		}
	}
	return statements
}

// Contradictions returns the uses that statements both allow and deny. The denial counts.
func Contradictions(stated page.Preferences) (uses []page.Use) {
	for _, p := range stated {
		if _, denied := stated.Denied(p.Use); denied && p.Allowed && !slices.Contains(uses, p.Use) {
			uses = append(uses, p.Use)
		}
	}
	return uses
}
