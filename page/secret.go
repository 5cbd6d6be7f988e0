package page

import (
	"net/url"
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/lazy"
)

// SecretMask stands in for what is secret in logs, records and error texts.
const SecretMask = "***"

// SecretEdition counts the changes by which [HasSecret] finds secrets in more URLs than before. Raise it with each:
// what was stored before is then looked through again.
const SecretEdition = 1

// HasSecret reports whether u carries something that looks like a credential: user info, a query or fragment parameter
// whose name or value looks secret, a segment of its path or of its route that does, or a key as its fragment.
//
// A request for such a URL counts as one with credentials: it is forwarded, but the page is not stored, indexed,
// exported or disclosed (rule AD4).
func HasSecret(u *url.URL) bool {
	if u.User != nil {
		return true
	}
	path := u.EscapedPath()
	return u.RawQuery != "" && anyParam(u.RawQuery, secretsBehind(u.Host, path, u.RawQuery, maxNesting)) ||
		secretFragment(u) || secretPath(u.Host, path)
}

// secretFragment reports whether the fragment of u carries something that looks like a credential.
func secretFragment(u *url.URL) bool {
	return u.Fragment != "" && secretAnchor(u.EscapedFragment(), Route(u) != "", maxNesting)
}

// secretAnchor is [secretFragment] for an escaped fragment, which may be the route of a page. left is how many
// decodings of values inside it are left (see maxNesting): a fragment may stand in a value that was itself decoded.
func secretAnchor(fragment string, route bool, left int) bool {
	path, query, _ := strings.Cut(fragment, "?")
	return anyParam(path, func(name, value string) bool { return secretParamIn(name, value, left) }) ||
		query != "" && anyParam(query, secretsBehind("", path, query, left)) || route && secretPath("", path) ||
		isKey(fragment)
}

// isKey reports whether a fragment, or a part of it, is a key, a secret that no server is to see: Mega, Bitwarden,
// PrivateBin, Excalidraw. Headings are words, what documentation generators make is hexadecimal digits, and so are the
// names of files in a change on GitHub. Such a key opens what the server keeps encrypted, so it must be in no log and
// no list.
func isKey(fragment string) bool {
	if len(fragment) < 12 || !mixed(fragment) || strings.Contains(fragment, ":~:") ||
		strings.HasPrefix(fragment, "diff-") {
		return false
	}
	if random(fragment, 12) {
		return true
	}
	parts := func(r rune) bool { return r == '/' || r == ',' || r == '&' || r == '=' }
	for part := range strings.FieldsFuncSeq(fragment, parts) {
		if mixed(part) && random(part, 20) {
			return true
		}
	}
	return false
}

// mixed reports whether a text, perhaps a secret, has both capitals and digits, as keys in base64 have.
func mixed(s string) bool { return kindsOf(s)&(isUpper|isDigit) == isUpper|isDigit }

// Mask returns u as text with everything replaced that looks secret, for logs, the ledger and error pages.
// What stays is enough to know which page is meant. The mask itself is written unescaped, for people read it.
func Mask(u *url.URL) string {
	m := *u
	if m.User != nil {
		m.User = url.User(SecretMask)
	}
	if path := m.EscapedPath(); secretPath(m.Host, path) {
		m.RawPath = maskPath(m.Host, path)
		m.Path, _ = url.PathUnescape(m.RawPath) // it was escaped before, and the mask needs no escape
	}
	m.RawQuery = maskParams(m.RawQuery, secretsBehind(u.Host, u.EscapedPath(), u.RawQuery, maxNesting))
	if secretFragment(&m) {
		m.Fragment, m.RawFragment = SecretMask, ""
	}
	return strings.ReplaceAll(m.String(), url.QueryEscape(SecretMask), SecretMask)
}

// HasSecretString is like HasSecret, for a URL as text. A malformed URL has none.
func HasSecretString(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && HasSecret(u)
}

// MaskString is like Mask, for a URL as text. Of a malformed URL it keeps only what is before the query and fragment.
func MaskString(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		head, cut := raw, false
		if end := strings.IndexAny(raw, "?#"); end >= 0 {
			head, cut = raw[:end], true
		}
		if at := strings.LastIndexByte(head, '@'); at >= 0 {
			head = SecretMask + head[at:]
		}
		head = maskPath("", head)
		if cut {
			head += "?" + SecretMask
		}
		return head
	}
	return Mask(u)
}

// jwtLike matches a JSON Web Token: three base64url parts, the first of which begins with {".
var jwtLike = lazy.Pattern(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)

// keyLike matches keys whose issuers gave them a telling prefix.
var keyLike = lazy.Pattern(`^(?:sk-|sk_live_|rk_live_|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|` +
	`AIza|fc-|ctx7sk|hf_|npm_|glptt-|figd_|syt_|hvs\.|ATTI|ATTA|ATATT|wc_order_|SCT[0-9]+T)[A-Za-z0-9_-]{10,}`)

// signedLike matches what Rails signs: base64, and a digest.
var signedLike = lazy.Pattern(`^[A-Za-z0-9+/=_-]{16,}--(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// shaped reports whether a text has the shape of a secret, wherever it stands: in a path, a value or a log. The switch
// over the first two bytes is there for speed: every segment and every value passes here, and the expression runs only
// where it may match.
func shaped(s string) bool {
	if len(s) < 12 {
		return false
	}
	switch s[:2] {
	case "sk", "rk", "gh", "gi", "gl", "xo", "AK", "AS", "AI", "AT", "fc", "ct", "hf", "np", "fi", "sy", "hv", "wc",
		"SC":
		if keyLike().MatchString(s) && (s[2] != '-' || strings.ContainsAny(s, "0123456789")) { // not sk-… in Slovak
			return true
		}
	}
	return strings.Contains(s, "eyJ") && jwtLike().MatchString(s) ||
		strings.Contains(s, "--") && signedLike().MatchString(s)
}

// HasSecretShape reports whether a text has the shape of a secret: it is a key with a telling prefix or what Rails
// signs, or has a JSON Web Token in it. The journal masks the values of fields that have it.
func HasSecretShape(text string) bool { return shaped(text) }

// anyParam reports, in search of a secret, whether match holds for a parameter of a query, name and value decoded. It
// splits at ";", too: some servers still do, and a secret must not pass for that.
func anyParam(query string, match func(name, value string) bool) bool {
	for part := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(part, "=")
		if match(unescape(name), unescape(value)) {
			return true
		}
	}
	return false
}

// maskParams masks the values of the parameters in query that are secret. Both separators that servers know, & and ;,
// stay.
func maskParams(query string, secret func(name, value string) bool) string {
	if !anyParam(query, secret) {
		return query
	}
	var b strings.Builder
	for query != "" {
		end := strings.IndexAny(query, "&;")
		if end < 0 {
			end = len(query)
		}
		part := query[:end]
		if name, _, hasValue := strings.Cut(part, "="); anyParam(part, secret) {
			part = SecretMask
			if hasValue {
				part = name + "=" + SecretMask
			}
		}
		b.WriteString(part)
		if end < len(query) {
			b.WriteByte(query[end])
			end++
		}
		query = query[end:]
	}
	return b.String()
}

// unescape decodes a name or a value of a query, in search of a secret; what cannot be decoded stays as it is, so that
// it is judged, not skipped.
func unescape(s string) string {
	if u, err := url.QueryUnescape(s); err == nil {
		return u
	}
	return s
}

// maxSaid is how much is told of a server's message, in characters.
const maxSaid = 300

// Said returns what a server that got a key says in an error, as logs and error texts may have it: a short line, with
// the mask wherever the key stands. The key is masked first, for what is cut may end within it.
func Said(text, key string) string {
	if key != "" {
		text = strings.ReplaceAll(text, key, SecretMask)
	}
	return clip.Line(text, maxSaid)
}
