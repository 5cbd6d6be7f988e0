package robots

import (
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/page"
)

// How long what is known of a robots.txt holds, and how much is kept.
const (
	lifetime    = 24 * time.Hour      // RFC 9309 §2.4
	retry       = 10 * time.Minute    // how long a failed request is not repeated
	unreachable = 30 * 24 * time.Hour // how long rules hold that cannot be read again (§2.3.1.4)
	shownText   = 8 << 10             // bytes of a robots.txt in a Verdict
	keptBytes   = 16 << 20            // of rules in memory
)

// Verdict reports whether the robots.txt of a site allows us to read a URL (RFC 9309).
type Verdict struct {
	Allowed  bool
	Reason   string        // why not, in one plain sentence; empty if allowed
	Err      error         // why robots.txt could not be had, of which nothing is known; else nil
	Delay    time.Duration // Crawl-delay between requests; 0: none
	Sitemaps []string      // absolute URLs of the sitemaps that it names; at most 100

	// Preferences are what it states about the use of the URL's content. They are not in Allowed: a preference is about
	// what is done with content, and its reader may be a person.
	Preferences page.Preferences

	URL    string // of robots.txt
	Status int    // of its response; 0: none was received
	Text   string // its first 8 KiB
	Long   bool   // it is longer than what is read of it (RFC 9309 §2.5)
}

// FileOf returns the URL of the robots.txt of u's site.
func FileOf(u *url.URL) *url.URL {
	return &url.URL{Scheme: u.Scheme, Host: page.Authority(u), Path: "/robots.txt"}
}

// Site is what is known of the robots.txt of a site: its rules, or that they could not be had. It is not changed.
type Site struct {
	rules    Rules
	sitemaps []string // absolute
	status   int
	text     string
	long     bool      // there was more than MaxSize
	why      string    // if not empty, everything is disallowed for this reason
	err      error     // in the place of the file, if nothing is known of it
	fetched  time.Time // when the rules were fetched
	until    time.Time // when to fetch again
}

// Judge returns what is known of a site once its robots.txt was requested: by the status and text of the answer, or by
// the error that came instead; long says that the text is a part. A site without the file (4xx), or with too many
// redirects, allows everything. One that fails to serve it allows what it allowed before, which known says, for a
// while; if that is nil, nothing. Status 429 counts as a failure: the site has the file.
func Judge(file *url.URL, status int, text []byte, long bool, err error, token string, known *Site,
	now time.Time,
) *Site {
	got := &Site{status: status, long: long, fetched: now, until: now.Add(lifetime)}
	switch {
	case err == nil && status >= 200 && status < 300:
		got.rules = Parse(text, token)
		got.text = string(clip.Bytes(text, shownText))
		for _, s := range got.rules.Sitemaps {
			u, err := page.Resolve(file, s)
			if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" {
				got.sitemaps = append(got.sitemaps, u.String())
			}
		}
		return got
	// unavailable: §2.3.1.3, and too many redirects: §2.3.1.2
	case err == nil && status >= 300 && status < 500 && status != http.StatusTooManyRequests:
		return got
	}
	got.until = now.Add(retry)
	if known != nil && known.why == "" && now.Sub(known.fetched) < unreachable {
		kept := *known
		kept.until = got.until
		return &kept
	}
	got.why = fmt.Sprintf("%s answered HTTP %d, which forbids everything until it can be read", file, status)
	if err != nil {
		got.status, got.err = 0, err
		got.why = fmt.Sprintf("%s could not be read, which forbids everything: %v", file, err)
	}
	return got
}

// Holds reports whether what is known of a site need not be fetched again. Of nil nothing is known.
func (s *Site) Holds(now time.Time) bool { return s != nil && now.Before(s.until) }

// Verdict returns what the site, whose robots.txt file is, says to a crawler about u. robots.txt itself is allowed (RFC
// 9309 §2.2.2), unless it could not be read.
func (s *Site) Verdict(file, u *url.URL, token string) Verdict {
	v := Verdict{
		Delay: s.rules.Delay, Sitemaps: s.sitemaps, URL: file.String(), Status: s.status, Text: s.text, Long: s.long,
	}
	switch path := PathOf(u); {
	case s.why != "":
		v.Reason, v.Err = s.why, s.err
	case u.EscapedPath() == "/robots.txt" || s.rules.Allows(path):
		v.Allowed, v.Preferences = true, s.rules.Preferences(path)
	default:
		v.Reason = fmt.Sprintf("%s does not let %s read %s", file, token, page.Mask(u))
	}
	return v
}

// Preferences returns what the site states about the use of u's content, if its file was read.
func (s *Site) Preferences(u *url.URL) page.Preferences {
	if s == nil || s.why != "" {
		return nil
	}
	return s.rules.Preferences(PathOf(u))
}

// size returns about how many bytes of memory the site takes in Sites.
func (s *Site) size() int { return 512 + len(s.text) + 2*s.rules.Size() }

// Sites keeps what is known of sites by the URLs of their files, up to 16 MiB. It evicts the oldest ones. The zero
// value is empty. It is safe for concurrent use.
type Sites struct {
	mu    sync.Mutex
	sites map[string]*Site
	order []string // oldest first
	bytes int
}

// Get returns what is known of a site; nil if nothing is.
func (c *Sites) Get(file string) *Site {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sites[file]
}

// Put keeps what is known of a site, by the URL of its robots.txt, in place of what was known before.
func (c *Sites) Put(file string, s *Site) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sites == nil {
		c.sites = map[string]*Site{}
	}
	if old := c.sites[file]; old != nil {
		c.bytes -= old.size()
	} else {
		c.order = append(c.order, file)
	}
	c.sites[file] = s
	c.bytes += s.size()
	for c.bytes > keptBytes && len(c.order) > 1 {
		oldest := c.order[0]
		c.order = c.order[1:]
		c.bytes -= c.sites[oldest].size()
		delete(c.sites, oldest)
	}
}
