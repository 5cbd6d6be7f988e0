package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Where the card of the server is, below its own path, and its media type (SEP-2127; experimental-ext-server-card of
// July 2026).
const (
	cardPath = "/server-card"
	cardType = "application/mcp-server-card+json"
)

// card is what a client may know of the server before it connects.
type card struct {
	Schema      string   `json:"$schema"`
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	WebsiteURL  string   `json:"websiteUrl"`
	Remotes     []remote `json:"remotes"`
}

type remote struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// serveCard answers the card of the server. It sets no field that lets pages in browsers read it: they may not call the
// server either, and would learn what runs on their visitor's machine.
func (s *Server) serveCard(w http.ResponseWriter, r *http.Request) {
	at := url.URL{Scheme: "http", Host: r.Host, Path: strings.TrimSuffix(r.URL.Path, cardPath)}
	if r.TLS != nil {
		at.Scheme = "https"
	}
	text, _ := json.MarshalIndent(card{ // strings cannot fail
		Schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
		Name:   "io.github.readthru/readthru", Version: s.o.Version, Title: "readthru",
		Description: "The web as clean markdown for agents, from a cache that remembers every page read.",
		WebsiteURL:  "https://github.com/readthru/readthru",
		Remotes:     []remote{{"streamable-http", at.String()}},
	}, "", "  ")
	w.Header().Set("Content-Type", cardType)
	w.Header().Set("Cache-Control", "private, max-age=3600")
	sum := sha256.Sum256(text)
	w.Header().Set("Etag", fmt.Sprintf("\"%x\"", sum[:8]))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(append(text, '\n')))
}
