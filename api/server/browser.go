package server

import (
	"net/http"
	"strings"
)

// isPage reports whether the dashboard answers a request of the admin port: at a path of its own, or, for a person, at
// / and at paths that nobody answers. Programs get the index and problem documents there.
func (s *Server) isPage(r *http.Request) bool {
	if s.dashboard == nil || r.URL.Path == "/" && !wantsPage(r) {
		return false
	}
	switch _, pattern := s.dashboard.Handler(r); pattern {
	case "":
		return false
	case missingPage: // a person at a path that nobody answers
		_, ours := s.mux.Handler(r)
		return ours == "/" && wantsPage(r)
	}
	return true
}

// missingPage is the pattern by which the dashboard says that there is no such page.
const missingPage = "GET /"

// referrerOf returns the Referrer-Policy of an answer. Those of dashboard pages say to this server where a request
// comes from: browsers name the origin of a form only if they do.
func referrerOf(page bool) string {
	if page {
		return "same-origin"
	}
	return "no-referrer"
}

// policyOf returns the Content-Security-Policy of the pages of the dashboard, or of everything else that the admin port
// answers.
func policyOf(page bool) string {
	if page {
		return "default-src 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; form-action 'self'"
	}
	return "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
}

// wantsPage reports whether a person waits for the answer to a request: browsers name text/html in Accept.
func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}
