package page

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Key identifies a page: SHA-256 of its normalised URL (rule E4).
type Key [sha256.Size]byte

// KeyOf returns the key, which identifies a page, of a normalised URL, as [Normalize] gives it.
func KeyOf(normalized string) Key { return sha256.Sum256([]byte(normalized)) }

// Doc returns the page's id on the wire: the first 16 hex digits of the key (rule B26).
func (k Key) Doc() string { return hex.EncodeToString(k[:8]) }

// String returns the whole key in hex.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// New returns a Page with what the URL alone tells: identity, type and display name.
// It makes no request: the steps of the cascade fill in the rest.
func New(u *url.URL) *Page {
	n := Normalize(u)
	g, _ := RepositoryOf(u)
	return &Page{Record: Record{
		Doc: KeyOf(n).Doc(), URL: u.String(), NormalizedURL: n, Type: Classify(u),
		Display: Display(u), GitHub: g,
	}}
}

// Parse parses, to identify a page, an absolute http or https URL with a host, as typed by a user or an agent, and
// escapes what browsers would. The error says what is wrong with it.
func Parse(raw string) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return nil, errors.New("the URL is empty")
	}
	u, err := url.Parse(raw)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err
		}
		return nil, fmt.Errorf("parse URL %q: %w", MaskString(raw), err)
	}
	switch {
	case u.Scheme == "":
		return nil, fmt.Errorf("URL %q has no scheme: write https://%s", MaskString(raw),
			MaskString(strings.TrimLeft(raw, "/")))
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("URL %q: scheme %s is not http or https", MaskString(raw), u.Scheme)
	case u.Hostname() == "":
		return nil, fmt.Errorf("URL %q has no host", MaskString(raw))
	}
	if u.Host, err = sentHost(u.Host); err != nil {
		return nil, fmt.Errorf("URL %q: %w", MaskString(raw), err)
	}
	KeepEscapes(u)
	u.RawQuery = escapeQuery(u.RawQuery)
	return u, nil
}

// Resolve returns, to identify a page, the URL that a reference names on a page at base, with its escapes (see
// [KeepEscapes]). It is for the addresses that stand in pages and header fields, which authors write as they like.
func Resolve(base *url.URL, reference string) (*url.URL, error) {
	u, err := url.Parse(reference)
	if err != nil {
		return nil, err
	}
	KeepEscapes(u)
	return base.ResolveReference(u), nil
}

// KeepEscapes escapes in the path of a URL, which identifies a page, that was parsed what must be escaped and is not,
// and leaves the escapes that are there. [url.URL.EscapedPath] makes all of them anew in this case, and then forgets
// those of slashes and others that it need not escape: of /a%2Fb|c it makes /a/b%7Cc, which names another resource.
// [Parse] and [Resolve] call it, so every URL that a user, an agent or a page gives has passed through it.
func KeepEscapes(u *url.URL) {
	if u.RawPath == "" || u.EscapedPath() == u.RawPath {
		return
	}
	escaped := escape(u.RawPath, func(c byte) bool {
		return c > ' ' && c < 0x7f && !strings.ContainsRune("\"<>\\^`{|}", rune(c))
	})
	u.RawPath = ""
	if u.EscapedPath() != escaped {
		u.RawPath = escaped
	}
}

// escapeQuery escapes in a query what browsers escape there, and what no request line may hold. Escapes stay.
func escapeQuery(query string) string {
	return escape(query, func(c byte) bool {
		return c > ' ' && c < 0x7f && c != '"' && c != '<' && c != '>' && c != '\''
	})
}

// escape escapes the bytes of a text for which plain is false, as %XX in upper case.
func escape(text string, plain func(byte) bool) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; plain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Route returns, since it identifies a page, the fragment of u, escaped, if it names a page that scripts show, as in
// "#/guide" and "#!/guide", and not a place on the page. It is empty if there is no such fragment; "#!" alone stands in
// links that lead nowhere.
func Route(u *url.URL) string {
	if u.Fragment == "" {
		return ""
	}
	route, _, _ := strings.Cut(u.EscapedFragment(), ":~:") // what follows is for browsers
	path, _, _ := strings.Cut(route, "?")
	if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "!") || path == "!" {
		return ""
	}
	return uniformEscapes(route)
}

// WithoutAnchor returns u, as it identifies a page, without its fragment, unless that is a [Route].
func WithoutAnchor(u *url.URL) *url.URL { return withFragment(u, Route(u)) }

// WithoutFragment returns u without its fragment, even if that is a [Route]: the URL that its origin is asked for.
func WithoutFragment(u *url.URL) *url.URL { return withFragment(u, "") }

// withFragment returns a copy of u with an escaped fragment in place of its own; empty takes it away.
func withFragment(u *url.URL, escaped string) *url.URL {
	v := *u
	v.Fragment, v.RawFragment = "", ""
	if plain, err := url.PathUnescape(escaped); err == nil {
		v.Fragment, v.RawFragment = plain, escaped
	}
	return &v
}

// Normalize returns the normalised form of u, which identifies a page: lower-case scheme and host, no default port, no
// fragment but a route, dot segments resolved, percent-escapes uniform, one name for a repository of a forge, query
// sorted stably by name, tracking parameters and sessions dropped (rule E4). User info is not part of a page's identity
// and is dropped too. It is a page's identity only: the HTTP cache keeps URLs exact.
func Normalize(u *url.URL) string {
	host := *u
	if name := u.Hostname(); strings.HasSuffix(name, ".") { // the root of names, which every host stands below
		host.Host = strings.Replace(u.Host, name, strings.TrimRight(name, "."), 1)
	}
	if u.RawQuery != "" || strings.Contains(u.Path, ";") {
		if plain, ok := WithoutSession(u.String()); ok {
			if v, err := url.Parse(plain); err == nil {
				u = v
			}
		}
	}
	n := url.URL{Scheme: strings.ToLower(u.Scheme), Host: Authority(&host)}
	// JoinPath cleans dot segments and keeps a trailing slash.
	joined := (&url.URL{Path: "/"}).JoinPath(uniformEscapes(u.EscapedPath()))
	n.Path, n.RawPath = joined.Path, joined.RawPath
	if path, ok := repositoryPath(u, &n); ok {
		n.Path, n.RawPath = path, ""
	}
	n.RawQuery = normalizeQuery(u.RawQuery)
	return withFragment(&n, normalizeRoute(Route(u))).String()
}

// WithoutRoute returns a normalised URL without its route, if it has one.
func WithoutRoute(normalized string) string {
	root, _, _ := strings.Cut(normalized, "#")
	return root
}

// normalizeRoute returns a route with its query, if it has one, normalised as that of a URL, so that tracking
// parameters behind a "#/" do not make a second page, either.
func normalizeRoute(route string) string {
	path, query, ok := strings.Cut(route, "?")
	if !ok {
		return route
	}
	if query = normalizeQuery(query); query == "" {
		return path
	}
	return path + "?" + query
}

// Siblings returns the other identities of a page: the other URLs at which servers commonly show the page of u: with
// and without a slash at the end of the path, and with index.html. Whether they do can only be seen. A fetch looks
// which of them are stored with the same content: these are names of one page.
func Siblings(u *url.URL) (list []*url.URL) {
	own := u.EscapedPath()
	stem := strings.TrimRight(strings.TrimSuffix(own, "/index.html"), "/")
	for _, path := range []string{stem, stem + "/", stem + "/index.html"} {
		if path == own || path == "" || own == "" && path == "/" {
			continue
		}
		other := *u
		if name, err := url.PathUnescape(path); err == nil {
			other.Path, other.RawPath = name, path
			list = append(list, &other)
		}
	}
	return list
}

// repositoryPath returns the one path that identifies a repository's page at a known forge, which has it under several:
// with a slash at its end, and with ".git". Elsewhere "/a" and "/a/" may be two pages.
func repositoryPath(u, n *url.URL) (string, bool) {
	short := strings.TrimRight(n.Path, "/")
	if short == n.Path && !strings.HasSuffix(short, ".git") {
		return "", false
	}
	g, kind := RepositoryOf(u)
	if kind != GitHubRepo && kind != Repository {
		return "", false
	}
	short = strings.TrimSuffix(short, ".git")
	return short, strings.EqualFold(short, "/"+g.Owner+"/"+g.Repo)
}

// uniformEscapes decodes, for a page's identity, the escapes of an escaped path that need not be, and writes the others
// in upper case (RFC 3986, section 6.2.2).
func uniformEscapes(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != '%' || i+2 >= len(path) {
			b.WriteByte(path[i])
			continue
		}
		c, err := strconv.ParseUint(path[i+1:i+3], 16, 8)
		switch {
		case err != nil:
			b.WriteByte('%')
			continue
		case c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '.' || c == '_' || c == '~':
			b.WriteByte(byte(c))
		default:
			b.WriteString(strings.ToUpper(path[i : i+3]))
		}
		i += 2
	}
	return b.String()
}

// defaultPort reports whether u, to be normalised, names no port but that of its scheme.
func defaultPort(u *url.URL) bool {
	port := u.Port()
	return port == "" || port == "80" && strings.EqualFold(u.Scheme, "http") || port == "443" &&
		strings.EqualFold(u.Scheme, "https")
}

// normalizeQuery sorts the parameters stably by name, makes their escapes uniform and drops tracking parameters. What
// cannot be read as parameters stays as it is: a page's identity must not depend on guessing.
// The sort is stable because parameters of one name may be a list, whose order counts.
func normalizeQuery(raw string) string {
	if raw == "" {
		return ""
	}
	type param struct{ name, text string }
	var params []param
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, hasValue := strings.Cut(part, "=")
		decodedName, err1 := url.QueryUnescape(name)
		decodedValue, err2 := url.QueryUnescape(value)
		if err1 != nil || err2 != nil {
			return raw
		}
		if Tracks(decodedName) {
			continue
		}
		text := url.QueryEscape(decodedName)
		if hasValue {
			text += "=" + url.QueryEscape(decodedValue)
		}
		params = append(params, param{decodedName, text})
	}
	slices.SortStableFunc(params, func(a, b param) int { return strings.Compare(a.name, b.name) })
	texts := make([]string, len(params))
	for i, p := range params {
		texts[i] = p.text
	}
	return strings.Join(texts, "&")
}
