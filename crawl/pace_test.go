package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/fetch"
)

// paced crawls a site of n pages below /p/, all linked from the start page, in virtual time.
func paced(t *testing.T, n int, interval time.Duration,
	h func(w http.ResponseWriter, r *http.Request) (handled bool),
) (*rig, told, *crawl.Report, error) {
	t.Helper()
	p := pages{}
	var links []string
	for i := range n {
		links = append(links, fmt.Sprintf("/p/%d", i))
		p[links[i]] = html(fmt.Sprintf("P %d", i))
	}
	p["/"] = html("Home", links...)
	r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h(w, r) {
			p.ServeHTTP(w, r)
		}
	}), func(c *crawl.Config, _ *fetch.Options) { c.Interval = interval })
	list, report, err := r.run(t, crawl.Options{})
	return r, list, report, err
}

// gaps returns the least time between two requests whose path begins with prefix, except for the first one.
func (s *site) gaps(prefix string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	least, last := time.Duration(1<<62), time.Time{}
	for i, a := range s.asked {
		if strings.HasPrefix(a, prefix) {
			if !last.IsZero() {
				least = min(least, s.times[i].Sub(last))
			}
			last = s.times[i]
		}
	}
	return least
}

func TestRequestsToAHostAreSpaced(t *testing.T) {
	for _, tt := range []struct {
		name     string
		interval time.Duration
		robots   string
		want     time.Duration
	}{
		{"by the interval", 200 * time.Millisecond, "", 200 * time.Millisecond},
		{"by the site's Crawl-delay", 200 * time.Millisecond, "User-agent: *\nCrawl-delay: 7.5\n", 7500 * time.Millisecond},
		{"never by less than the interval", time.Second, "User-agent: *\nCrawl-delay: 0.1\n", time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, _, report, err := paced(t, 9, tt.interval, func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path == "/robots.txt" {
						io.WriteString(w, tt.robots)
					}
					return r.URL.Path == "/robots.txt"
				})
				if got := r.gaps("site.test/p"); err != nil || report.Pages != 10 || got < tt.want {
					t.Errorf("%v apart, want %v; %d pages, %v", got, tt.want, report.Pages, err)
				}
			})
		})
	}
}

func TestACrawlWaitsForTheRequestsOfOtherNodes(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want time.Duration
	}{
		{"as long as they say", nil, 3 * time.Second},
		{"not if nobody knows", errors.New("away"), 200 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := pages{"/": html("Home", "/p/1", "/p/2", "/p/3"), "/p/1": html("P 1"), "/p/2": html("P 2"), "/p/3": html("P 3")}
				next := time.Now()
				var mu sync.Mutex
				r := newRig(t, p, func(c *crawl.Config, _ *fetch.Options) {
					c.Interval = 200 * time.Millisecond
					c.Turn = func(_ context.Context, host string, interval time.Duration) (time.Duration, error) {
						if host != "site.test" || interval != 200*time.Millisecond {
							t.Errorf("a turn at %s in %v", host, interval)
						}
						mu.Lock()
						defer mu.Unlock()
						wait := max(time.Until(next), 0)
						next = time.Now().Add(wait + 3*time.Second) // another node asks as well
						return wait, tt.err
					}
				})
				_, report, err := r.run(t, crawl.Options{})
				if got := r.gaps("site.test/p"); err != nil || report.Pages != 4 || got < tt.want || got > tt.want+time.Second {
					t.Errorf("%v apart, want %v; %d pages, %v", got, tt.want, report.Pages, err)
				}
			})
		})
	}
}

func TestExcessiveCrawlDelayIsARefusal(t *testing.T) {
	r := newRig(t, pages{"/": html("Home"), "/robots.txt": "User-agent: *\nCrawl-delay: 3600"})
	if _, _, err := r.run(t, crawl.Options{}); err == nil ||
		!strings.Contains(err.Error(), "asks for 1h0m0s between requests") {
		t.Errorf("crawl: %v, want an error that names the delay", err)
	}
}

func TestCrawlWaitsForAnOriginInTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := 0
		begin := time.Now()
		_, list, report, err := paced(t, 5, -1, func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/p/3" && refused < 2 {
				refused++
				w.Header().Set("Retry-After", "90")
				http.Error(w, "busy", http.StatusTooManyRequests)
				return true
			}
			return false
		})
		if took := time.Since(begin); err != nil || report.Pages != 6 || refused != 2 || took < 3*time.Minute ||
			took > 4*time.Minute {
			t.Errorf("%d pages after %v and %d refusals, want 6 after 2 times 90 s: %v %v", report.Pages, took, refused, err,
				list)
		}
	})
}

func TestCrawlEndsWhenTheOriginStaysInTrouble(t *testing.T) {
	for _, tt := range []struct {
		name, retryAfter, want string
		most                   int // requests for pages
	}{
		{"it fails and fails", "", "16 URLs in a row failed", 3 * 32},
		{"it asks for an hour", "3600", "asks for a pause of 1h0m0s", 32},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, list, _, err := paced(t, 200, -1, func(w http.ResponseWriter, r *http.Request) bool {
					if strings.HasPrefix(r.URL.Path, "/p/") {
						w.Header().Set("Retry-After", tt.retryAfter)
						http.Error(w, "busy", http.StatusServiceUnavailable)
						return true
					}
					return false
				})
				if n := r.count("site.test/p/"); err == nil || !strings.Contains(err.Error(), tt.want) || n > tt.most {
					t.Errorf("%v after %d requests, want %q after at most %d; told %v", err, n, tt.want, tt.most, list)
				}
			})
		})
	}
}
