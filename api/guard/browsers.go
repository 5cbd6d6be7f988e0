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

	"github.com/readthru/readthru/internal/users"
)

// Browsers signs browsers in, directly or by links. Links end with the process; a browser stays signed in over its
// restarts, since its code is signed with a key that the token gives, and no longer than that token is ours.
type Browsers struct {
	key []byte

	// Keep keeps which codes were signed out, until they end of themselves. If nil, they are forgotten with the process.
	Keep func(out map[string]time.Time) error

	mu    sync.Mutex
	links map[secretSum]ticket // by the hash of the code: looking one up tells nothing by the time it takes
	out   map[string]time.Time // hashes of codes that were signed out, with their ends
}

type secretSum [sha256.Size]byte

// ticket is a link.
type ticket struct {
	page, user string // who is signed in by it; empty: the operator
	ends       time.Time
}

// NewBrowsers returns browsers for a token; without one their codes end with the process. out are the codes that were
// signed out before, as Keep had them.
func NewBrowsers(token string, out map[string]time.Time) *Browsers {
	b := &Browsers{links: map[secretSum]ticket{}, out: map[string]time.Time{}, key: make([]byte, sha256.Size)}
	maps.Copy(b.out, out)
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

// Link returns the code of a new link to a page, for the operator or a user. A user's new link ends the one before.
// What has ended makes room for it, then what ends first.
func (b *Browsers) Link(page, user string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, life := time.Now(), LinkLife
	if user != "" {
		life = UserLinkLife
	}
	maps.DeleteFunc(b.links, func(_ secretSum, t ticket) bool {
		return !now.Before(t.ends) || user != "" && t.user == user
	})
	var same []secretSum // links of users do not take the room of the operator's
	for key, t := range b.links {
		if (t.user == "") == (user == "") {
			same = append(same, key)
		}
	}
	if len(same) >= maxLinks {
		delete(b.links, slices.MinFunc(same, func(x, y secretSum) int { return b.links[x].ends.Compare(b.links[y].ends) }))
	}
	code := rand.Text()
	b.links[sha256.Sum256([]byte(code))] = ticket{page, user, now.Add(life)}
	return code
}

// Look returns whom the code of a link signs in, without using it. ok is false if it is no link's, or not anymore.
func (b *Browsers) Look(code string) (user string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok := b.links[sha256.Sum256([]byte(code))]
	return t.user, ok && time.Now().Before(t.ends)
}

// Use takes a link's code. It returns whom it signs in, and the page to go to.
func (b *Browsers) Use(code string) (user, page string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := sha256.Sum256([]byte(code))
	t, ok := b.links[key]
	delete(b.links, key)
	if !ok || !time.Now().Before(t.ends) {
		return "", "", false
	}
	return t.user, t.page, true
}

// codeSize is how long the first part of a browser's code is: when it ends, in nanoseconds, and a random part. For a
// user their name and mark follow, then the signature.
const codeSize = 8 + 16

// Enter returns the code of a browser by which somebody has signed in.
func (b *Browsers) Enter(who users.Login) string {
	code := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(BrowserLife).UnixNano())) //nolint:gosec // after 1970
	code = append(code, make([]byte, codeSize-8)...)
	rand.Read(code[8:]) // never fails
	if who.User != nil {
		code = append(code, who.Name()+"\x00"+who.Mark()...)
	}
	return base64.RawURLEncoding.EncodeToString(append(code, macOf(b.key, code)...))
}

// know reports whether a request is from a browser that signed in, with the name and the mark of its user; both are
// empty for the operator.
func (b *Browsers) know(r *http.Request) (user, mark string, known bool) {
	code, ends, known := b.read(r)
	if !known {
		return "", "", false
	}
	b.mu.Lock()
	_, out := b.out[sumOf(code)]
	b.mu.Unlock()
	user, mark, _ = strings.Cut(string(code[codeSize:len(code)-sha256.Size]), "\x00")
	return user, mark, !out && time.Now().Before(ends)
}

// read returns the code of a request that is one of ours, and when it ends.
func (b *Browsers) read(r *http.Request) (code []byte, ends time.Time, ok bool) {
	cookies := r.CookiesNamed(CookieName(r))
	if len(cookies) != 1 {
		return nil, ends, false
	}
	code, err := base64.RawURLEncoding.Strict().DecodeString(cookies[0].Value)
	signed := len(code) - sha256.Size
	if err != nil || signed < codeSize || !hmac.Equal(code[signed:], macOf(b.key, code[:signed])) {
		return nil, ends, false
	}
	return code, time.Unix(0, int64(binary.BigEndian.Uint64(code))), true //nolint:gosec // it is ours
}

// Leave signs the browser out that sent a request: its code is good for nobody anymore, also after a restart.
func (b *Browsers) Leave(r *http.Request) error {
	code, ends, ok := b.read(r)
	if !ok {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(b.out, func(_ string, ends time.Time) bool { return !now.Before(ends) })
	b.out[sumOf(code)] = ends
	if b.Keep == nil {
		return nil
	}
	return b.Keep(b.out)
}

// Seal returns a text with a signature, for a cookie that is not one of a browser that is signed in.
func (b *Browsers) Seal(text []byte) string {
	return base64.RawURLEncoding.EncodeToString(append(macOf(macOf(b.key, []byte("sealed")), text), text...))
}

// Unseal returns a text that Seal signed.
func (b *Browsers) Unseal(sealed string) (text []byte, ok bool) {
	all, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || len(all) < sha256.Size {
		return nil, false
	}
	sum, text := all[:sha256.Size], all[sha256.Size:]
	return text, hmac.Equal(sum, macOf(macOf(b.key, []byte("sealed")), text))
}

func sumOf(code []byte) string {
	sum := sha256.Sum256(code)
	return base64.RawURLEncoding.EncodeToString(sum[:])
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

// How long a link, of the operator and of a user, and a browser that signed in, are good.
const (
	LinkLife     = time.Minute
	UserLinkLife = 24 * time.Hour
	BrowserLife  = 12 * time.Hour
	maxLinks     = 64 // of the operator, and of users, that wait to be used
)
