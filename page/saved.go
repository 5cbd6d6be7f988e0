package page

import (
	"bytes"
	"net/url"
)

// SavedFrom returns the URL of a page that the browser extension SingleFile saved; nil if content does not say at its
// beginning where it is from.
func SavedFrom(content []byte) *url.URL {
	_, said, _ := bytes.Cut(content[:min(len(content), 8<<10)], []byte("Page saved with SingleFile"))
	words := bytes.Fields(said)
	if len(words) < 2 || string(words[0]) != "url:" {
		return nil
	}
	u, err := Parse(string(words[1]))
	if err != nil {
		return nil
	}
	u.User = nil
	return u
}
