package crawl_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// double imitates a Firecrawl server: it rejects unknown keys, its jobs take some polls, its parts have a next that
// appears too early and names another host, and failed pages do not count in skip.
type double struct {
	v1Only bool
	key    string // required if it is set
	polls  int    // number of polls that a job answers with scraping
	part   int    // documents per part
	docs   []map[string]any
	failed int    // failed pages: next remains even after the last document
	final  string // final status; if empty, completed
	faults []fault

	mu        sync.Mutex
	bodies    []string // of POST, with path
	cancelled bool
	requests  []string
	keys      map[string]bool // Authorization fields received
	polled    int
}

// fault is the answer to the next request whose "METHOD path" begins with its prefix.
type fault struct {
	on         string
	status     int
	retryAfter string
	error      string
}

var scrapeKeys = []string{"formats", "onlyMainContent", "maxAge", "skipTlsVerification"}

var bodyKeys = map[string][]string{
	"/v1/scrape": append([]string{"url"}, scrapeKeys...),
	"/v2/scrape": append([]string{"url"}, scrapeKeys...),
	"/v1/crawl": {
		"url", "limit", "maxDepth", "allowBackwardLinks", "ignoreSitemap", "includePaths", "excludePaths",
		"scrapeOptions",
	},
	"/v2/crawl": {
		"url", "limit", "maxDiscoveryDepth", "crawlEntireDomain", "sitemap", "includePaths", "excludePaths",
		"scrapeOptions",
	},
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests = append(d.requests, r.Method+" "+r.Host+r.URL.RequestURI())
	if d.keys == nil {
		d.keys = map[string]bool{}
	}
	d.keys[r.Header.Get("Authorization")] = true
	answer := func(status int, v map[string]any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(v); err != nil {
			panic(err)
		}
	}
	no := func(status int, text string) { answer(status, map[string]any{"success": false, "error": text}) }
	for i, f := range d.faults {
		if strings.HasPrefix(r.Method+" "+r.URL.Path, f.on) {
			d.faults = append(d.faults[:i:i], d.faults[i+1:]...)
			if f.retryAfter != "" {
				w.Header().Set("Retry-After", f.retryAfter)
			}
			no(f.status, f.error)
			return
		}
	}
	version := r.URL.Path[:min(3, len(r.URL.Path))]
	if d.v1Only && version == "/v2" {
		http.Error(w, "Cannot "+r.Method+" "+r.URL.Path, http.StatusNotFound)
		return
	}
	if d.key != "" && r.Header.Get("Authorization") != "Bearer "+d.key {
		no(http.StatusUnauthorized, "Unauthorized: Invalid token "+strings.TrimPrefix(r.Header.Get("Authorization"),
			"Bearer "))
		return
	}
	path := strings.TrimPrefix(r.URL.Path, version)
	switch {
	case r.Method == http.MethodPost:
		if why := d.strict(r); why != "" {
			no(http.StatusBadRequest, why)
			return
		}
		if path == "/scrape" {
			answer(http.StatusOK, map[string]any{"success": true, "data": d.docs[0]})
			return
		}
		answer(http.StatusOK, map[string]any{
			"success": true, "id": "job-1",
			"url": "https://elsewhere.test" + version + "/crawl/job-1",
		})
	case r.Method == http.MethodDelete && path == "/crawl/job-1":
		d.cancelled = true
		answer(http.StatusOK, map[string]any{"status": "cancelled"})
	case path == "/crawl/job-1/errors":
		answer(http.StatusOK, map[string]any{"errors": []any{map[string]any{
			"id": "x", "url": "http://site.test/broken",
			"code": "SCRAPE_TIMEOUT", "error": "timed out",
		}}, "robotsBlocked": []string{"http://site.test/private"}})
	case path == "/crawl/job-1":
		answer(http.StatusOK, d.status(r, version))
	default:
		no(http.StatusNotFound, "Job not found")
	}
}

// strict returns why a body is refused.
func (d *double) strict(r *http.Request) string {
	var body map[string]json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Header.Get("Content-Type") != "application/json" {
		return "Bad Request"
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	d.bodies = append(d.bodies, r.URL.Path+" "+string(text))
	if why := unknown(body, bodyKeys[r.URL.Path]); why != "" || body["scrapeOptions"] == nil {
		return why
	}
	var nested map[string]json.RawMessage
	if json.Unmarshal(body["scrapeOptions"], &nested) != nil {
		return "scrapeOptions"
	}
	return unknown(nested, scrapeKeys)
}

func unknown(body map[string]json.RawMessage, allowed []string) string {
	for k := range body {
		known := false
		for _, a := range allowed {
			known = known || a == k
		}
		if !known {
			return "Unrecognized key in body: " + k
		}
	}
	return ""
}

// status is the answer to a poll.
func (d *double) status(r *http.Request, version string) map[string]any {
	d.polled++
	status, docs := d.final, d.docs
	if status == "" {
		status = "completed"
	}
	if d.polled <= d.polls {
		status, docs = "scraping", d.docs[:min(len(d.docs), d.polled)]
	}
	skip, _ := strconv.Atoi(r.FormValue("skip"))
	end := min(len(docs), skip+d.part)
	v := map[string]any{
		"success": true, "status": status, "completed": len(docs), "total": len(d.docs) + d.failed,
		"creditsUsed": 1, "expiresAt": "2030-01-01T00:00:00Z", "data": docs[min(skip, end):end],
	}
	if end < len(d.docs)+d.failed {
		v["next"] = fmt.Sprintf("https://elsewhere.test%s/crawl/job-1?skip=%d&limit=%d&x=y", version, end, d.part)
	}
	return v
}

func doc(url, markdown string, meta ...string) map[string]any {
	m := map[string]any{"title": "T", "statusCode": 200, "sourceURL": url, "ogImage": []string{"a", "b"}, "nothing": nil}
	for i := 0; i < len(meta); i += 2 {
		m[meta[i]] = meta[i+1]
		if meta[i+1] == "" {
			delete(m, meta[i])
		}
	}
	return map[string]any{"markdown": markdown, "metadata": m}
}
