package guard

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Browsers signs browsers in, directly or by links. Links end with the process; a browser stays signed in over its
// restarts, since its code is signed with a key that the token gives, and no longer than that token is ours.
type Browsers struct {
	key []byte

	mu    sync.Mutex
	links map[secretSum]ticket // by the hash of the code: looking one up tells nothing by the time it takes
}

type secretSum [sha256.Size]byte

// ticket is a link.
type ticket struct {
	page string
	ends time.Time
}

// NewBrowsers returns browsers for a token; without one their codes end with the process.
func NewBrowsers(token string) *Browsers {
	b := &Browsers{links: map[secretSum]ticket{}, key: make([]byte, sha256.Size)}
	rand.Read(b.key) // never fails
	if token != "" {
		b.key = macOf([]byte(token), []byte("readthru: browsers that are signed in"))
	}
	return b
}

func macOf(key, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return h.Sum(nil)
}

// Link returns the code of a new link to a page. What has ended makes room for it, then what ends first.
func (b *Browsers) Link(page string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(b.links, func(_ secretSum, t ticket) bool { return !now.Before(t.ends) })
	if len(b.links) >= maxLinks {
		delete(b.links, slices.MinFunc(slices.Collect(maps.Keys(b.links)), func(x, y secretSum) int {
			return b.links[x].ends.Compare(b.links[y].ends)
		}))
	}
	code := rand.Text()
	b.links[sha256.Sum256([]byte(code))] = ticket{page, now.Add(LinkLife)}
	return code
}

// Use takes a link's code. It returns the code of a browser that is signed in, and the page to go to.
func (b *Browsers) Use(code string) (browser, page string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := sha256.Sum256([]byte(code))
	t, ok := b.links[key]
	delete(b.links, key)
	if !ok || !time.Now().Before(t.ends) {
		return "", "", false
	}
	return b.Enter(), t.page, true
}

// codeSize is how long the code of a browser is before its signature: when it ends, in nanoseconds, and a random part.
const codeSize = 8 + 16

// Enter returns the code of a browser that is signed in.
func (b *Browsers) Enter() string {
	code := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(BrowserLife).UnixNano())) //nolint:gosec // after 1970
	code = append(code, make([]byte, codeSize-8)...)
	rand.Read(code[8:]) // never fails
	return base64.RawURLEncoding.EncodeToString(append(code, macOf(b.key, code)...))
}

// know reports whether a request is from a browser that signed in.
func (b *Browsers) know(r *http.Request) bool {
	cookies := r.CookiesNamed(CookieName(r))
	if len(cookies) != 1 {
		return false
	}
	code, err := base64.RawURLEncoding.Strict().DecodeString(cookies[0].Value)
	if err != nil || len(code) != codeSize+sha256.Size || !hmac.Equal(code[codeSize:], macOf(b.key, code[:codeSize])) {
		return false
	}
	return time.Now().UnixNano() < int64(binary.BigEndian.Uint64(code)) //nolint:gosec // it is ours
}

// CookieName returns the name of our cookie. It has the port, since browsers keep cookies by host alone.
func CookieName(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	return "readthru-" + cmp.Or(port, "80")
}

// IsOwnPath reports whether a browser that is sent to page stays at this server.
func IsOwnPath(page string) bool {
	u, err := url.Parse(page)
	return err == nil && !u.IsAbs() && u.Host == "" && strings.HasPrefix(page, "/") && !strings.HasPrefix(page, "//") &&
		!strings.Contains(page, `\`)
}

// How long a link, and a browser that signed in, are good.
const (
	LinkLife    = time.Minute
	BrowserLife = 12 * time.Hour
	maxLinks    = 64 // that wait to be used
)
