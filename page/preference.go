package page

import "slices"

// A Preference is what an origin says about one use of its content.
type Preference struct {
	Use     Use    `json:"use"`
	Allowed bool   `json:"allowed"`
	Says    string `json:"says"` // the statement as written: "Content-Usage: train-ai=n"
	In      string `json:"in"`   // where it stands: header, meta or robots.txt
}

// Use is a use of content about which origins state preferences.
type Use string

// The uses. The first three are those of Content-Signal; Content-Usage knows UseSearch and UseTrain.
const (
	UseSearch  Use = "search"   // to list the page in an index that is searched
	UseInput   Use = "ai-input" // to give it to a model as input
	UseTrain   Use = "ai-train" // to train a model
	UseIndex   Use = "index"    // to list it in a public search engine, which noindex is about
	UseArchive Use = "archive"  // to show a stored copy
	UseSnippet Use = "snippet"  // to show a part of it in a list of results
)

// Words returns the use that a preference speaks of in plain words: "use as input of a model".
func (u Use) Words() string {
	switch u {
	case UseSearch:
		return "listing in a search"
	case UseIndex:
		return "listing in an index"
	case UseInput:
		return "use as input of a model"
	case UseTrain:
		return "training of a model"
	case UseArchive:
		return "showing a stored copy"
	case UseSnippet:
		return "showing a part"
	}
	return string(u)
}

// Preferences are the statements about one page, in any order.
type Preferences []Preference

// Denied returns the first statement that disallows a use. If statements contradict each other, the most restrictive
// applies (draft-ietf-aipref-vocab-08, "Combining Preferences").
func (ps Preferences) Denied(use Use) (p Preference, denied bool) {
	for _, p := range ps {
		if p.Use == use && !p.Allowed {
			return p, true
		}
	}
	return Preference{}, false
}

// Denials returns the statements that disallow a use as they were written, each once: Content-Signal: ai-train=no.
func (ps Preferences) Denials() (says []string) {
	for _, p := range ps {
		if !p.Allowed && !slices.Contains(says, p.Says) {
			says = append(says, p.Says)
		}
	}
	return says
}

// String names the statement and where it stands: "Content-Usage: train-ai=n" in robots.txt.
func (p Preference) String() string { return `"` + p.Says + `" in ` + where(p.In) }

// where names a place of a [Preference] in a sentence.
func where(in string) string {
	switch in {
	case InHeader:
		return "the response"
	case InMeta:
		return "the page"
	}
	return in
}

// Places of a [Preference].
const (
	InHeader = "header"
	InMeta   = "meta"
	InRobots = "robots.txt"
)

// Warnings of pages about the use of which their origin has said something.
const (
	WarnNotIndexed  = "not-indexed"     // searches do not find the page, because its origin denies that
	WarnInputDenied = "ai-input-denied" // the origin denies the use by models; the reader asked for the page by its URL
)
