package page

import (
	"net/url"
	"strings"

	"github.com/readthru/readthru/internal/lazy"
)

// A path is full of what looks random and is public: commits, digests, builds, identifiers of articles. So a segment
// counts as a secret only if
//   - it is a path parameter with a secret name (;jsessionid=…), a session in parentheses (ASP.NET), a JSON Web Token
//     or a key with a telling shape,
//   - it is random, and the segment before it says what it is for (reset, invite, share), or the one behind it does
//     (unsubscribe, decline),
//   - it is of a host that gives each reader an address of their own,
//   - or it is random by itself, 20 characters or more, and the path does not lead to an image or a part of a page.
//     Hexadecimal digits and UUIDs are never a secret by themselves; see [Unlisted].

// secretWords name the purpose of the segment behind them, in lower case: reset/…, invite/…. A segment of several
// words, such as password-reset, counts if one of them is here.
var secretWords = map[string]bool{
	"reset": true, "password": true, "passwd": true, "pwreset": true, "resetpassword": true, "recover": true,
	"recovery": true, "forgot": true, "token": true, "tokens": true, "verify": true, "verification": true, "confirm": true,
	"confirmation": true, "activate": true, "activation": true, "invite": true, "invites": true, "invitation": true,
	"invitations": true, "magic": true, "magiclink": true, "unsubscribe": true, "optout": true, "share": true,
	"shared": true, "shares": true, "sharing": true, "session": true, "sessions": true, "sid": true, "auth": true,
	"secret": true, "secrets": true, "key": true, "keys": true, "apikey": true, "otp": true, "sso": true, "login": true,
	"signin": true, "signup": true, "unlock": true, "webhook": true, "webhooks": true, "hooks": true, "join": true,
	"private": true, "preview": true, "draft": true, "access": true, "ticket": true, "code": true, "callback": true,
	"onetime": true, "signed": true, "download": true, "downloads": true, "oauth": true, "cancellation": true,
	"cancellations": true, "reschedulings": true, "webhookb2": true, "hook": true, "trigger": true, "triggers": true,
	"integration": true, "integrations": true, "heartbeat": true, "ping": true, "deploy": true, "accept": true,
	"joinchat": true, "notifications": true, "booking": true, "poll": true, "sign": true, "esign": true, "trusted": true,
	"snapshot": true, "published": true, "public": true, "upload": true, "uploads": true, "apitul": true, "ical": true,
	"icalendar": true, "calendar": true, "calendars": true, "feeds": true, "sh": true, "interaction": true, "gifts": true,
	"confirmemail": true, "setup": true, "goto": true, "tus": true, "rec": true, "form": true, "up": true,
}

// answerWords name what the reader does who was given the segment before.
var answerWords = map[string]bool{
	"unsubscribe": true, "authenticate": true, "enqueue": true, "accept": true, "decline": true, "reschedule": true,
	"admin": true, "calendar.ics": true,
}

// secretHosts are those of products that give an address of their own to each of those who may see something. Every
// segment of a path there that is long enough is secret.
var secretHosts = map[string]bool{
	"photos.app.goo.gl":     true, // Google Photos: a shared album
	"meet.google.com":       true, // Google Meet: a meeting
	"chat.whatsapp.com":     true, // WhatsApp: an invitation to a group
	"we.tl":                 true, // WeTransfer: a transfer
	"1drv.ms":               true, // OneDrive: a shared file
	"share.icloud.com":      true, // iCloud: photos and notes
	"gofile.me":             true, // Synology: a shared file
	"hc-ping.com":           true, // Healthchecks: who has it reports for a job
	"nosnch.in":             true, // Dead Man's Snitch: the same
	"cronitor.link":         true, // Cronitor: the same
	"discord.gift":          true, // Discord: a gift
	"login.tailscale.com":   true, // Tailscale: adds a machine
	"up.1drv.com":           true, // OneDrive: an upload
	"ical.booking.com":      true, // Booking: a calendar
	"trip.uber.com":         true, // Uber: where somebody is
	"send.bitwarden.com":    true, // Bitwarden: a text or file for one reader
	"teamup.com":            true, // Teamup: a calendar
	"public.3.basecamp.com": true, // Basecamp: what was shared
	"infura.io":             true, // Infura and Alchemy: the key of a project
	"g.alchemy.com":         true,
	"tus.vimeo.com":         true, // Vimeo: an upload
}

// assets are the endings of files that are parts of pages.
var assets = map[string]bool{
	"png": true, "jpg": true, "jpeg": true, "gif": true, "webp": true, "avif": true, "svg": true, "ico": true, "css": true,
	"js": true, "mjs": true, "woff": true, "woff2": true, "ttf": true, "map": true,
}

// servedWords name directories of a build, whose files are named after digests and builds.
// What stands behind one of them is served to everybody.
var servedWords = map[string]bool{
	"static": true, "assets": true, "_next": true, "dist": true, "build": true, "chunks": true, "immutable": true,
	"_nuxt": true, "bundles": true, "cdn-cgi": true, "images": true, "img": true, "fonts": true, "css": true, "js": true,
}

// listedWords name collections whose members are public, whatever their identifiers look like.
// What follows one of these is no secret for looking random alone; behind a word of purpose it still is.
var listedWords = map[string]bool{
	"channel": true, "playlist": true, "playlists": true, "track": true, "album": true, "artist": true, "show": true,
	"episode": true, "episodes": true, "shows": true, "article": true, "articles": true, "topics": true, "topic": true,
	"publications": true, "tag": true, "tags": true, "compare": true, "commit": true, "tree": true, "blob": true,
	"play": true, "embed": true, "video": true, "videos": true, "stories": true, "category": true, "post": true,
	"posts": true, "p": true, "dp": true, "watch": true, "badge": true, "play-audio": true, "ipfs": true, "address": true,
	"shop": true, "products": true, "product": true, "profile": true, "news": true,
}

// The shapes of segments that single products or frameworks make, and two common ones: assetName is the ending of a
// file's name, and uuidLike a UUID.
var (
	aspSession  = lazy.Pattern(`\([ASF]\([A-Za-z0-9_-]{8,}\)\)`)
	private     = lazy.Pattern(`^(?:private-[0-9a-f]{32}|z-app-.*-[0-9a-f]{40})$`) // Google Calendar, Slack
	telegramBot = lazy.Pattern(`^bot[0-9]{6,}:[A-Za-z0-9_-]{20,}$`)
	cloudinary  = lazy.Pattern(`^s--[A-Za-z0-9_-]{8,32}--$`)   // signed media
	meeting     = lazy.Pattern(`^[a-z]{3}-[a-z]{4}-[a-z]{3}$`) // Google Meet
	overleaf    = lazy.Pattern(`^[0-9]{10}[a-z]{12}$`)         // a project that may be edited
	assetName   = lazy.Pattern(`\.[A-Za-z][A-Za-z0-9]{0,5}$`)
	uuidLike    = lazy.Pattern(`^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$`)
)

// secretPath reports whether a segment of an escaped path at a host is a secret.
// It goes through the segments from the left, because what a segment is depends on those before it.
func secretPath(host, path string) bool {
	if len(path) < 9 {
		return false
	}
	at := placeAt(host, path)
	for rest, more := path, true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		if at.secret(segment, rest) {
			return true
		}
		at.pass(segment, false)
	}
	return false
}

// maskPath returns an escaped path at a host with [SecretMask] in place of its secret segments. Of a segment with
// parameters (;jsessionid=…) the rest stays, unless the name itself is secret.
func maskPath(host, path string) string {
	if !secretPath(host, path) {
		return path
	}
	var masked []string
	at := placeAt(host, path)
	for rest, more := path, true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		secret, shown := at.secret(segment, rest), segment
		if secret {
			shown = SecretMask
			if name, params, ok := strings.Cut(segment, ";"); ok && !at.secret(name, rest) {
				shown = name + ";" + maskParams(params, secretParam)
			}
		}
		masked = append(masked, shown)
		at.pass(segment, secret)
	}
	return strings.Join(masked, "/")
}

// A place in a path is what the host, the segments before it and the end of the path say of the next segment: whether a
// text that looks random there is a secret or a name.
type place struct {
	before  [3]string // the segments before it, the nearest first
	reached int       // how many of them a purpose may be among: it reaches over whom it is for, and over a secret
	secrets bool      // the host gives each reader an address of their own
	served  bool      // it is part of a build, or of a page
}

// placeAt returns the place of the first segment of a path. The host counts with and without its first label, since
// products give a subdomain to each customer.
func placeAt(host, path string) place {
	at := place{secrets: secretHosts[host]}
	if _, parent, ok := strings.Cut(host, "."); ok && !at.secrets {
		at.secrets = secretHosts[parent]
	}
	if dot := strings.LastIndexByte(path, '.'); dot >= 0 && len(path)-dot <= 6 {
		at.served = assets[path[dot+1:]]
	}
	return at
}

// pass moves the place behind a segment; secret says that the segment was judged one. A long segment that is none ends
// the reach of the words of purpose before it: what follows a slug is about the slug.
func (p *place) pass(segment string, secret bool) {
	p.served = p.served || servedWords[segment]
	p.before = [3]string{segment, p.before[0], p.before[1]}
	p.reached++
	if len(segment) > 16 && !secret {
		p.reached = 1
	}
	p.reached = min(p.reached, len(p.before))
}

// purpose returns the segment before p that names a purpose, as in reset/12345/… and invite/b/…; empty if there is
// none.
func (p *place) purpose() string {
	for _, segment := range p.before[:p.reached] {
		if purposeful(segment) {
			return segment
		}
	}
	return ""
}

// secret reports whether a segment, escaped, is a secret: by itself, by its place, and by what is behind it. The tests
// go from the certain to the doubtful: shapes, the host, a word behind, a word before, and at last the text alone. A
// segment of fewer than seven bytes is never one.
func (p *place) secret(escaped, behind string) bool {
	if len(escaped) < 7 {
		return false
	}
	kinds := kindsOf(escaped)
	segment := escaped
	if kinds&isEscape != 0 {
		if plain, err := url.PathUnescape(escaped); err == nil {
			segment = plain
			kinds = kindsOf(plain)
		}
	}
	name := segment
	if kinds&isOther != 0 {
		if segment != escaped && strings.ContainsAny(segment, "?%") && secretValue(segment, maxNesting) {
			return true // a URL in a segment
		}
		var params string
		if name, params, _ = strings.Cut(segment, ";"); params != "" && anyParam(params, secretParam) ||
			strings.IndexByte(name, '=') > 0 && anyParam(name, secretParam) {
			return true
		}
		if what, ok := strings.CutPrefix(name, "secret:"); ok && what != "" { // Pinboard's feeds
			return true
		}
	}
	if len(name) < 7 || shaped(name) || shapedSegment(name) {
		return len(name) >= 7
	}
	// Lower-case letters alone are a word or a slug, however long, except for the names of meetings.
	if kinds&(isUpper|isDigit) == 0 {
		return p.secrets && meeting().MatchString(name)
	}
	if p.secrets {
		return true
	}
	if next, _, _ := strings.Cut(behind, "/"); answerWords[next] && given(name) {
		return true
	}
	if purpose := p.purpose(); purpose != "" {
		whose, _, _ := strings.Cut(name, "@") // Teams: of a group at a tenant
		return given(strings.TrimSuffix(whose, ".ics")) || shortGiven[purpose] && random(name, 7)
	}
	switch before := p.before[0]; {
	case before == "s" && len(name) == 15 && random(name, 15): // Nextcloud, ownCloud, Dropbox
		return true
	case (before == "d" || before == "p") && len(name) >= 20 && digest(name): // Seafile, Gumroad, PandaDoc
		return true
	case p.served, len(name) < 20, listedWords[before], assetName().MatchString(name), !random(name, 20):
		return false
	}
	// base64 of a plain text is only as secret as the text is; base64 of bytes is taken for a key.
	plain, ok := plainOf(name) // what it says decides
	return !ok || secretValue(plain, maxNesting)
}

// shortGiven are the words of purpose behind which seven characters that look random are enough.
var shortGiven = map[string]bool{
	"invite": true, "invites": true, "invitation": true, "sharing": true, "join": true, "hooks": true,
}

// shapedSegment reports whether a segment of a path is a secret: it has the shape of one that a single product makes.
// The switch over the first byte keeps the expressions away from the many segments that none of them fits.
func shapedSegment(name string) bool {
	switch name[0] {
	case 'b':
		return strings.HasPrefix(name, "bot") && telegramBot().MatchString(name)
	case '(':
		return aspSession().MatchString(name)
	case 'p', 'z':
		return (strings.HasPrefix(name, "private-") || strings.HasPrefix(name, "z-app-")) && private().MatchString(name)
	case 's':
		return strings.HasPrefix(name, "s--") && cloudinary().MatchString(name) ||
			strings.HasPrefix(name, "s-") && len(name) == 13 && random(name[2:], 11) || // SoundCloud
			strings.HasPrefix(name, "shr") && len(name) == 17 && random(name[3:], 14) // Airtable
	case '+':
		return len(name) == 17 && random(name[1:], 14) // Telegram: an invitation
	case 'l':
		return strings.HasPrefix(name, "live_") && len(name) >= 40 // Stripe: invoices
	}
	return len(name) == 22 && name[0] <= '9' && overleaf().MatchString(name)
}

// purposeful reports whether a segment of a path names a purpose for which secrets are made: one of its words, divided
// by "-", "_", "." or ":", is in [secretWords]. A longer segment is a slug that only has such a word in it.
func purposeful(segment string) bool {
	if len(segment) > 40 {
		return false
	}
	for rest := strings.ToLower(segment); rest != ""; {
		end := strings.IndexAny(rest, "-_.:")
		if end < 0 {
			return secretWords[rest]
		}
		if secretWords[rest[:end]] {
			return true
		}
		rest = rest[end+1:]
	}
	return false
}

// given reports whether a segment of a path behind a word of purpose is what was given to one reader: a UUID, sixteen
// hexadecimal digits, or ten characters without words that are random. A slug is none of these.
func given(segment string) bool {
	if k := kindsOf(segment); len(segment) < 10 || k&isDigit == 0 && k&(isLower|isUpper) != isLower|isUpper ||
		strings.IndexByte(segment, '.') >= 0 && assetName().MatchString(segment) {
		return false
	}
	if n := len(segment); n >= 36 && uuidLike().MatchString(segment[n-36:]) || random(segment, 12) { // inv_…
		return true
	}
	for part := range strings.FieldsFuncSeq(segment, separates) {
		if len(part) >= 16 && digest(part) || random(part, 10) {
			return true
		}
	}
	return false
}

// hexadecimal reports whether a text of a path, perhaps a secret, is hexadecimal digits, with or without 0x before
// them. Such texts are public almost everywhere (commits, digests, blocks of a chain), so they are no secret by
// themselves.
func hexadecimal(s string) bool {
	s = strings.TrimPrefix(s, "0x")
	for i := range len(s) {
		if c := s[i] | 0x20; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return s != ""
}

// Kinds of characters in a text.
const (
	isLower = 1 << iota
	isUpper
	isDigit
	isEscape
	isOther // neither these nor what separates words
)

// kindTable gives for each byte the kind of character that it is, 0 for what separates words. It saves a chain of
// comparisons for each byte of each segment.
var kindTable = func() (t [256]uint8) {
	for i := range t {
		switch c := byte(i); {
		case c >= 'a' && c <= 'z':
			t[i] = isLower
		case c >= 'A' && c <= 'Z':
			t[i] = isUpper
		case c >= '0' && c <= '9':
			t[i] = isDigit
		case c == '%':
			t[i] = isEscape | isOther
		case c != '-' && c != '_' && c != '.' && c != '~' && c != '+':
			t[i] = isOther
		}
	}
	return t
}()

// kindsOf returns the kinds of the characters in a text of a path, perhaps a secret, as a set of bits. It is the first,
// cheap look at a segment or a value.
func kindsOf(s string) (k uint8) {
	for i := range len(s) {
		k |= kindTable[s[i]]
	}
	return k
}

// digest reports whether a text of a path, perhaps a secret, is hexadecimal digits, some of them letters and some not:
// a number alone is an identifier, and letters alone may be a word ("facade").
func digest(s string) bool {
	k := kindsOf(s)
	return k&isDigit != 0 && k&(isLower|isUpper) != 0 && k&isOther == 0 && hexadecimal(s)
}

// separates reports whether a character of a path stands between the words of a slug, or between the parts of an
// identifier.
func separates(r rune) bool {
	return r == '-' || r == '_' || r == '.' || r == '~' || r == ':' || r == '+' || r == '='
}

// makeup counts the letters and digits of a text, and the pairs of neighbours that words seldom have (odd). [random]
// decides by it.
type makeup struct{ lower, upper, digits, odd, pairs, separators, others int }

// makeupOf counts the makeup of a text, by which a secret in a path is known. A pair is odd if it is of two kinds
// (lower case, capital, digit), or of two letters that are seldom neighbours in words; two digits never are.
func makeupOf(s string) (k makeup) {
	var last, lastKind byte
	for i := range len(s) {
		var kind byte
		c := s[i]
		switch {
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
		if kind != 0 && lastKind != 0 {
			k.pairs++
			if kind != lastKind || kind != '0' && !common(last, c) {
				k.odd++
			}
		}
		last, lastKind = c, kind
	}
	return k
}

// followers are the letters that often follow each letter of the alphabet in words, above all in English and German.
// They are two in five of all pairs, and nine in ten of those in words.
var followers = masks("bcdghiklmnprstuvwy", "aeilorsuy", "acehikloqrtuy", "adeiorsuy", "abcdefgilmnprstuvwxy",
	"aefilorstuy", "aeghilnorstu", "aeilnortuy", "abcdefgklmnoprstvz", "aeou", "aeilnorsty", "adefiklmopstuvy",
	"abeimnopsuy", "acdefgiknostuvyz", "bcdfgiklmnoprstuvwxy", "aehiloprstuy", "u", "abcdefgiklmnoprstuvy",
	"acehiklmnopstuwy", "acehilmorstuwyz", "abcdefgilmnprstvz", "aeioru", "aehinors", "acepty", "aelmnoprst", "aeiouwyz")

// masks returns for each letter of the alphabet the set of letters that follow it, as bits: a test of a pair is then
// one look.
func masks(after ...string) (m [26]uint32) {
	for i, letters := range after {
		for _, l := range letters {
			m[i] |= 1 << (l - 'a')
		}
	}
	return m
}

// common reports, to know a secret by its letters, whether b often follows a in words, whatever their case.
func common(a, b byte) bool { return followers[a|0x20-'a']&(1<<(b|0x20-'a')) != 0 }

// random reports whether a text of at least so many letters and digits looks random, as a secret in a path does: half
// of its neighbours or more are of different kinds, or letters that are seldom neighbours in words. In base64 that is
// four of five, in base32 and base36 two of three; in words, slugs and names in camel case it is one of five. Where it
// has no digits more is asked.
func random(s string, least int) bool {
	if len(s) < least {
		return false
	}
	k := makeupOf(s)
	n := k.lower + k.upper + k.digits
	// Too few letters and digits, signs that no key has, digits alone, or many words: not random.
	if n < least || k.others > 0 || k.pairs == 0 || n == k.digits ||
		k.separators > max(n/8, 1) { // a slug: base64 has one in 32
		return false
	}
	// A part of hexadecimal digits is a digest or a commit, which is public.
	for part := range strings.FieldsFuncSeq(s, separates) {
		if len(part) >= 8 && hexadecimal(part) {
			return false
		}
	}
	odd := float64(k.odd) / float64(k.pairs)
	switch {
	case k.digits == 0:
		return n >= 12 && odd >= .6 && k.lower > 0 && k.upper > 2
	case k.lower > 0 && k.upper > 0:
		return odd >= .5 && k.digits+k.upper >= 4
	}
	return k.digits >= 2 && odd >= .45
}

// Unlisted reports whether u may be known only to those who were given it: it has a secret ([HasSecret]), or a segment
// or a parameter that cannot be guessed, such as a UUID or a digest. Most of these are public, which nobody can tell
// from the URL; so such a page is kept and shown as any other, but no third party is told of it. What says only how a
// visitor came does not count; what says who the visitor is does.
// The gate before third parties asks it, and so does whatever tells other machines of the fleet about a page.
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

// unguessable reports whether a text of a path is like a secret: it has a part of about 64 bits or more that are
// random. It is asked only for [Unlisted]: a digest is not a secret, but nobody guesses one.
func unguessable(s string) bool {
	if len(s) < 16 {
		return false
	}
	if uuidLike().MatchString(s) || random(s, 16) {
		return true
	}
	for part := range strings.FieldsFuncSeq(s, separates) {
		if len(part) >= 24 && digest(part) || random(part, 16) {
			return true
		}
	}
	return false
}
