package page

import (
	"net/url"
	"regexp"
	"strings"
)

// A path is full of what looks random and is public: commits, digests, builds, identifiers of articles. So a segment
// counts as a secret only if
//   - it is a path parameter with a secret name (;jsessionid=…), a session in parentheses (ASP.NET), a JSON Web Token
//     or a key with a telling prefix,
//   - it is random, and the segment before it says what it is for: reset, invite, share, …,
//   - or it is random by itself: 20 characters or more of three kinds that change as often as in base64. Hexadecimal
//     digits and UUIDs are never a secret by themselves; see [Unlisted].

// secretWords name the purpose of the segment behind them.
var secretWords = map[string]bool{
	"reset": true, "password": true, "passwd": true, "pwreset": true, "resetpassword": true, "recover": true,
	"recovery": true, "forgot": true, "token": true, "tokens": true, "verify": true, "verification": true, "confirm": true,
	"confirmation": true, "activate": true, "activation": true, "invite": true, "invites": true, "invitation": true,
	"invitations": true, "magic": true, "magiclink": true, "unsubscribe": true, "optout": true, "share": true,
	"shared": true, "shares": true, "sharing": true, "session": true, "sessions": true, "sid": true, "auth": true,
	"secret": true, "secrets": true, "key": true, "keys": true, "apikey": true, "otp": true, "sso": true, "login": true,
	"signin": true, "signup": true, "unlock": true, "webhook": true, "webhooks": true, "hooks": true, "join": true,
	"private": true, "preview": true, "draft": true, "access": true, "ticket": true, "code": true, "callback": true,
	"onetime": true, "signed": true, "download": true, "oauth": true, "cancellation": true, "cancellations": true,
	"webhookb2": true,
}

// servedWords name directories of a build, whose files are named after digests and builds.
var servedWords = map[string]bool{
	"static": true, "assets": true, "_next": true, "dist": true, "build": true, "chunks": true, "immutable": true,
	"_nuxt": true, "bundles": true, "cdn-cgi": true, "images": true, "img": true, "fonts": true, "css": true, "js": true,
}

// listedWords name collections whose members are public, whatever their identifiers look like.
var listedWords = map[string]bool{
	"channel": true, "playlist": true, "playlists": true, "track": true, "album": true, "artist": true, "show": true,
	"episode": true, "episodes": true, "shows": true, "article": true, "articles": true, "topics": true, "topic": true,
	"publications": true, "tag": true, "tags": true, "compare": true, "commit": true, "tree": true, "blob": true,
	"play": true, "embed": true, "video": true, "videos": true, "stories": true, "category": true, "post": true,
	"posts": true, "p": true, "dp": true, "watch": true, "badge": true, "play-audio": true, "ipfs": true, "address": true,
}

var (
	aspSession  = regexp.MustCompile(`\([ASF]\([A-Za-z0-9_-]{8,}\)\)`)
	private     = regexp.MustCompile(`^(?:private-[0-9a-f]{32}|z-app-.*-[0-9a-f]{40})$`) // Google's calendars, Slack's sign-in
	telegramBot = regexp.MustCompile(`^bot[0-9]{6,}:[A-Za-z0-9_-]{20,}$`)
	assetName   = regexp.MustCompile(`\.[A-Za-z][A-Za-z0-9]{0,5}$`)
	uuidLike    = regexp.MustCompile(`^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$`)
	hexLike     = regexp.MustCompile(`^(?:0x)?[0-9A-Fa-f]+$`)
)

// secretPath reports whether a segment of an escaped path is a secret.
func secretPath(path string) bool {
	if len(path) < 9 {
		return false
	}
	at := place{}
	for segment := range strings.SplitSeq(path, "/") {
		if secretSegment(segment, at.before, at.served) {
			return true
		}
		at.pass(segment)
	}
	return false
}

// A place in a path is what the segments before it say of the next.
type place struct {
	before string // the one before it; or one up to three before that names a purpose
	since  int    // segments since that
	served bool   // it is part of a build
}

// pass goes on behind a segment. A purpose reaches over whom it is for: reset/12345/…, invite/b/….
func (p *place) pass(segment string) {
	p.served = p.served || servedWords[segment]
	p.since++
	named := len(segment) <= 16 && segment != SecretMask // whom it is for
	if p.since > 2 || !purposeful(p.before) || purposeful(segment) || !named {
		p.before, p.since = segment, 0
	}
}

// maskPath masks the secret segments of an escaped path. Of a segment with parameters the rest stays.
func maskPath(path string) string {
	if !secretPath(path) {
		return path
	}
	segments := strings.Split(path, "/")
	at := place{}
	for i, segment := range segments {
		if secretSegment(segment, at.before, at.served) {
			segments[i] = SecretMask
			if name, params, ok := strings.Cut(segment, ";"); ok && !secretSegment(name, at.before, at.served) {
				segments[i] = name + ";" + maskParams(params, secretParam)
			}
		}
		at.pass(segment)
	}
	return strings.Join(segments, "/")
}

// secretSegment judges a segment by itself, by the one before it, and by whether it is part of a build.
func secretSegment(escaped, before string, served bool) bool {
	if len(escaped) < 8 {
		return false
	}
	segment := escaped
	if strings.IndexByte(escaped, '%') >= 0 {
		if plain, err := url.PathUnescape(escaped); err == nil {
			segment = plain
		}
	}
	if segment != escaped && strings.ContainsAny(segment, "?%") && secretValue(segment, maxNesting) {
		return true // a URL in a segment
	}
	name, params, ok := strings.Cut(segment, ";")
	if ok && anyParam(params, secretParam) {
		return true
	}
	switch {
	case strings.Contains(name, "eyJ") && jwtLike.MatchString(name), keyLike.MatchString(name),
		strings.HasPrefix(name, "bot") && telegramBot.MatchString(name),
		strings.HasPrefix(name, "(") && aspSession.MatchString(name), private.MatchString(name):
		return true
	case purposeful(before):
		whose, _, _ := strings.Cut(name, "@") // Teams: of a group at a tenant
		return given(whose)
	}
	return !served && len(name) >= 20 && !listedWords[before] && !assetName.MatchString(name) && random(name, 20)
}

// purposeful reports whether a segment names a purpose for which secrets are made.
func purposeful(segment string) bool {
	if len(segment) > 40 {
		return false
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(segment),
		func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
		if secretWords[word] {
			return true
		}
	}
	return false
}

// given reports whether a segment behind a word of purpose is what was given to one reader: a UUID, sixteen
// hexadecimal digits, or ten characters without words that are random. A slug is none of these.
func given(segment string) bool {
	if assetName.MatchString(segment) {
		return false
	}
	if uuidLike.MatchString(segment) || random(segment, 12) {
		return true
	}
	for part := range strings.FieldsFuncSeq(segment, separates) {
		if len(part) >= 16 && hexLike.MatchString(part) && makeupOf(part).digits > 0 || random(part, 10) {
			return true
		}
	}
	return false
}

func separates(r rune) bool {
	return r == '-' || r == '_' || r == '.' || r == '~' || r == ':' || r == '+' || r == '='
}

// makeup counts the letters and digits of a text, and how often neighbours are of different kinds.
type makeup struct{ lower, upper, digits, changes, pairs, separators, others int }

// makeupOf returns the makeup of a text.
func makeupOf(s string) (k makeup) {
	var last byte
	for i := range len(s) {
		var kind byte
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			kind = 'a'
			k.lower++
		case c >= 'A' && c <= 'Z':
			kind = 'A'
			k.upper++
		case c >= '0' && c <= '9':
			kind = '0'
			k.digits++
		case separates(rune(c)):
			k.separators++
		default:
			k.others++
		}
		if kind != 0 && last != 0 {
			k.pairs++
			if kind != last {
				k.changes++
			}
		}
		last = kind
	}
	return k
}

// random reports whether a text of at least so many letters and digits looks random: its kinds of characters change
// from one to the next as often as they would in base64 (62 % of the time), or in base32 and base36 (40 %). In words,
// slugs and names in camel case they change seldom.
func random(s string, least int) bool {
	k := makeupOf(s)
	n := k.lower + k.upper + k.digits
	if n < least || k.others > 0 || k.digits == 0 || k.pairs == 0 || n == k.digits ||
		k.separators > n/8 { // a slug: base64 has one in 32
		return false
	}
	for part := range strings.FieldsFuncSeq(s, separates) {
		if len(part) >= 8 && hexLike.MatchString(part) {
			return false
		}
	}
	often := float64(k.changes) / float64(k.pairs)
	if k.lower > 0 && k.upper > 0 {
		return often >= .4 && k.digits+k.upper >= 4
	}
	return k.digits >= 3 && often >= .28
}

// Unlisted reports whether u may be known only to those who were given it: it has a secret ([HasSecret]), or a segment
// or a parameter that cannot be guessed, such as a UUID or a digest. Most of these are public, which nobody can tell
// from the URL; so such a page is kept and shown as any other, but no third party is told of it. What says only how a
// visitor came does not count; what says who the visitor is does.
func Unlisted(u *url.URL) bool {
	if HasSecret(u) {
		return true
	}
	route, query, _ := strings.Cut(Route(u), "?")
	for _, path := range []string{u.Path, unescape(route)} {
		for segment := range strings.SplitSeq(path, "/") {
			if unguessable(segment) {
				return true
			}
		}
	}
	given := func(name, value string) bool { return !anyName(clickParameters, name) && unguessable(value) }
	return anyParam(u.RawQuery, given) || anyParam(query, given)
}

// unguessable reports whether a text has a part of about 64 bits or more that are random.
func unguessable(s string) bool {
	if len(s) < 16 {
		return false
	}
	if uuidLike.MatchString(s) || random(s, 16) {
		return true
	}
	for part := range strings.FieldsFuncSeq(s, separates) {
		if len(part) >= 24 && hexLike.MatchString(part) && makeupOf(part).digits > 0 || random(part, 16) {
			return true
		}
	}
	return false
}
