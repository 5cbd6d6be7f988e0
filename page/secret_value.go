package page

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/readthru/readthru/internal/lazy"
)

// A parameter is a secret
//   - if its name says so, whatever its value is: secretNames has it, or a word of it,
//   - if its name may say so (secretNameWords, secretShortNames), or the URL is about one reader's account, and its
//     value looks random,
//   - if its value has a secret itself: the shape of one, such as a JSON Web Token, or, however often encoded, a URL, a
//     query, a JSON text, or one of these in base64, with a parameter or a member that is a secret.

// The second half of a name's entry in secretNames: how much of a parameter's name it must be.
const (
	whole = false // it is the name
	part  = true  // it is the name, or a word of it: user[password], login-token
)

// secretNames are names of parameters, in lower case, whose values are credentials. Those of single products are last.
var secretNames = map[string]bool{
	"token": part, "apikey": part, "sig": part, "signature": part, "password": part, "passwd": part, "pwd": part,
	"passcode": part, "passphrase": part, "secret": part, "auth": part, "authorization": part, "bearer": part, "jwt": part,
	"credential": part, "credentials": part, "session": part, "sessionid": part, "sid": part, "sessid": part,
	"phpsessid": part, "jsessionid": part, "otp": part, "hmac": part, "accesstoken": part, "refreshtoken": part,
	"idtoken": part, "authtoken": part, "privatekey": part, "secretkey": part, "accesskey": part, "csrf": part,
	"xsrf": part, "ticket": part, "nonce": part, "assertion": part, "samlresponse": part, "samlrequest": part, "key": part,

	"pass": whole, "pw": whole, "psw": whole, "passkey": whole, "code": whole, "pin": whole, "totp": whole, "ott": whole,
	"otc": whole, "otac": whole, "authkey": whole, "sharekey": whole, "usertoken": whole, "invitation": whole,
	"invitecode": whole, "invite_code": whole, "verificationcode": whole, "verification_code": whole,
	"activation_code": whole, "confirmation_code": whole, "reset_code": whole, "access_code": whole, "auth_code": whole,
	"login_code": whole, "security_code": whole,

	"device_code": whole, "user_code": whole, // RFC 8628
	"oobcode": whole,                // Firebase: resets a password, signs in by mail
	"wstoken": whole,                // Moodle: web services
	"sesskey": whole,                // Moodle: forms of a session
	"rlkey":   whole,                // Dropbox: a shared link
	"cftoken": whole, "cfid": whole, // ColdFusion: sessions
	"hdnea": whole, "hdnts": whole, "hdntl": whole, "hdnia": whole, // Akamai: signed media
	"resourcekey": whole, // Google Drive: a shared file
	"edit2":       whole, // Google Forms: an answer that may be changed
	"upload_id":   whole, // Google: an upload that may be continued
	"uploadid":    whole, // Amazon S3: the same
	"wresult":     whole, // WS-Federation: a sign-in
	"adminkey":    whole, // Doodle
	"sesame":      whole, // django-sesame: signs in by mail
	"_wpnonce":    whole, // WordPress: forms of a session
	"zak":         whole, // Zoom: starts a meeting as its host
}

// secretNameWords are parts of names whose values are credentials if they look random: authkey2, vcode, magic_link,
// state.
var secretNameWords = []string{
	"token", "code", "key", "sig", "pass", "pwd", "secret", "sess", "auth", "nonce", "invit", "magic", "verif", "confirm",
	"activat", "reset", "forgot", "ticket", "otp", "sso", "login", "state", "share", "access", "saml", "cookie", "policy",
	"proof", "crumb", "_tk", "feed",
}

// secretShortNames are names, too short or too common for secretNameWords, of the same kind: sessions, signatures,
// tickets.
var secretShortNames = map[string]bool{
	"s": true, "k": true, "tk": true, "tok": true, "sectok": true, "hm": true, "mtid": true, "md5": true,
	"secure": true, "hash": true, "_hash": true, "sk": true, "appid": true,
	"h":                 true,                           // Vimeo
	"pt":                true,                           // Spotify: who has it may edit a list
	"st":                true,                           // Battle.net
	"tx":                true,                           // Duo
	"tl":                true,                           // Google: goes on with a sign-in
	"arb":               true,                           // Amazon: approves a sign-in
	"sm":                true,                           // SurveyMonkey
	"tsid":              true,                           // Adobe Sign
	"ssid":              true,                           // QNAP: a shared file
	"eqbct":             true,                           // Smartsheet: a published sheet
	"consent_challenge": true, "logout_challenge": true, // Ory Hydra
}

// innocentNames are names of what only says where a list goes on.
var innocentNames = map[string]bool{
	"pagetoken": true, "page_token": true, "nexttoken": true, "next_token": true, "nextpagetoken": true,
	"continuation_token": true, "continuationtoken": true, "synctoken": true, "sync_token": true,
}

// maxNesting bounds how often a value is decoded, or read as something that has values itself: a URL in a URL, JSON in
// base64. An attacker, or a chain of redirects, may nest without end.
const maxNesting = 8

// secretsBehind returns what judges the parameters of a query behind an escaped path at a host, where so many decodings
// are left. Any value that looks random is one if one of the last two segments, or a value, is about one reader's
// account, or if the host gives each reader an address of their own.
func secretsBehind(host, path, query string, left int) func(name, value string) bool {
	asked, account := false, false
	aboutOne := func() bool {
		if !asked {
			asked = true
			segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
			account = secretHosts[host] || slices.ContainsFunc(segments[max(len(segments)-2, 0):], aboutAccount) ||
				anyParam(query, func(_, value string) bool { return accountActions[strings.ToLower(value)] })
		}
		return account
	}
	return func(name, value string) bool {
		return secretParamOf(name, value, left, aboutOne) || value == "" && bare(name) ||
			name == "n" && len(value) >= 5 && digits(value) && aboutOne() // Facebook: the code of a recovery
	}
}

// accountActions are values by which a query names a step that only an account's owner is invited to, as action=rp
// does. They are in lower case.
var accountActions = map[string]bool{
	"unsubscribe": true, "confirm": true, "confirmsubscription": true, "reset": true, "resetpassword": true, "rp": true,
	"activate": true, "verify": true, "cfmpw": true,
}

// aboutAccount reports whether a segment of a path names a step that only the owner of an account is invited to (reset,
// confirm, invite): then any random value beside it is taken for that owner's.
func aboutAccount(segment string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(segment), separatesWords) {
		switch word {
		case "reset", "recover", "recovery", "verify", "verification", "confirm", "confirmation", "activate", "activation",
			"invite", "invitation", "magic", "magiclink", "unsubscribe", "optout", "unlock", "signup", "signing", "esign",
			"redeem":
			return true
		}
	}
	return false
}

// secretParam judges a parameter by name and value alone.
func secretParam(given, value string) bool { return secretParamIn(given, value, maxNesting) }

// secretParamIn is [secretParam] where so many decodings are left. It knows nothing of the URL that the parameter
// stands in.
func secretParamIn(given, value string, left int) bool {
	return secretParamOf(given, value, left, func() bool { return false })
}

// secretParamOf is [secretParamIn] for a parameter beside others that may be about one reader's account.
// aboutOne is asked last, since it goes through the whole URL.
func secretParamOf(given, value string, left int, aboutOne func() bool) bool {
	if value == "" { // a parameter that is but a value
		return secretValue(given, left)
	}
	name := strings.ToLower(given)
	switch {
	case name == "sid" && digits(strings.ReplaceAll(value, "/", "")),
		name == "code" && strings.ContainsFunc(value, unicode.IsSpace), name == "key" && isWord(value),
		strings.HasSuffix(name, "_id") && !strings.Contains(name, "sess") && digits(value):
		return false // an article, a program, an order of sorting, a form for tickets
	case innocentNames[name]:
		return secretValue(value, left)
	case strings.HasSuffix(name, "token"), strings.HasSuffix(name, "password"), strings.HasSuffix(name, "secret"):
		return true
	case known(name), strings.HasPrefix(name, "x-amz-"), strings.HasPrefix(name, "x-goog-"),
		strings.HasPrefix(name, "aspsessionid"):
		return true
	}
	// A word of a longer name counts: user[password], login-token.
	if strings.ContainsAny(name, "_-.[]") {
		for word := range strings.FieldsFuncSeq(name, separatesWords) {
			if secretNames[word] { // part
				return true
			}
		}
	}
	// The value looks random: the name, or what the URL is about, decides.
	if looksRandom(value) && (mayBeSecret(name) || !anyName(clickParameters, name) && aboutOne()) {
		return true
	}
	return secretValue(value, left)
}

// mayBeSecret reports whether a parameter's name in lower case may be that of a credential, so that a random value of
// it is one. A keyword is none, although it has "key" in it.
func mayBeSecret(name string) bool {
	says := func(word string) bool { return strings.Contains(name, word) }
	return secretShortNames[name] || slices.ContainsFunc(secretNameWords, says) && !says("keyword")
}

// known reports whether a parameter's whole name, in lower case, is one of [secretNames].
func known(name string) bool {
	_, ok := secretNames[name]
	return ok
}

// isWord reports whether the value of a parameter has only letters and what separates words, and does not look random:
// key=title orders a list.
func isWord(s string) bool {
	k := makeupOf(s)
	return k.digits+k.others == 0 && !random(s, 8)
}

// separatesWords reports whether a character stands between the words of the name of a parameter whose value may be
// secret.
func separatesWords(r rune) bool { return r == '_' || r == '-' || r == '.' || r == '[' || r == ']' }

// looksRandom reports whether a value looks random: as [given], with what stands between the parts of signatures, or
// ten hexadecimal digits.
func looksRandom(value string) bool {
	k := kindsOf(value)
	if len(value) < 10 || k&(isLower|isUpper) == 0 || k&isDigit == 0 && k&(isLower|isUpper) != isLower|isUpper {
		return false
	}
	if k&isOther == 0 && hexadecimal(value) {
		m := makeupOf(value)
		return m.digits > 1 && m.digits < len(value)-1
	}
	return given(inParts.Replace(value))
}

// inParts turns what stands between the parts of signatures and tokens into nothing, or into the mark between two
// parts, so that [given] judges each part.
var inParts = strings.NewReplacer("+", "", "/", "", "=", "", ".", "-", "|", "-", "*", "-", "!", "-", ",", "-", "_", "-")

// bare reports whether a query that is nothing but a value (?Zx81…) looks random. A number does not: caches are
// passed by with one.
func bare(value string) bool {
	return !strings.ContainsAny(value, "/.") && (uuidLike().MatchString(value) || random(value, 16) ||
		len(value) >= 32 && hexadecimal(value) && makeupOf(value).digits > 0)
}

// secretValue reports whether the value of a parameter, or a segment that stands for one, carries a secret, whatever
// its name is: by its shape, or in what it decodes to. left is how many decodings are left; without one, a value that
// is still percent-encoded counts as a secret.
func secretValue(value string, left int) bool {
	if len(value) < 6 {
		return false
	}
	if shaped(value) {
		return true
	}
	if strings.IndexByte(value, '%') >= 0 {
		if plain, err := url.QueryUnescape(value); err == nil && plain != value {
			return left == 0 || secretValue(plain, left-1)
		}
	}
	text := strings.TrimSpace(value)
	if text == "" {
		return false
	}
	if left == 0 {
		return false
	}
	// Whatever the value is a container of is judged by its members: JSON, base64, then a URL or a query.
	if text[0] == '{' || text[0] == '[' {
		return secretJSON([]byte(text), left-1)
	}
	if plain, ok := plainOf(text); ok {
		return secretValue(plain, left-1)
	}
	return strings.ContainsAny(text, "=/?#") && secretText(text, left-1)
}

// plainOf returns the text that a value is the base64 of; ok is false if it is none. What is short, or gives bytes that
// are no ASCII text, is not taken for that.
func plainOf(s string) (string, bool) {
	if s = strings.TrimRight(s, "="); len(s) < 12 || len(s)%4 == 1 || strings.IndexByte(s, ' ') >= 0 {
		return "", false
	}
	coding := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		coding = base64.RawURLEncoding
	}
	var head [6]byte // most texts are not, which their beginning says
	if _, err := coding.Decode(head[:], []byte(s[:8])); err != nil || !printable(head[:]) {
		return "", false
	}
	plain, err := coding.DecodeString(s)
	return string(plain), err == nil && printable(plain)
}

// printable reports whether bytes, the value of a parameter decoded, are text in ASCII, with line ends and tabs, and no
// other control characters.
func printable(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return c < ' ' && c != '\n' && c != '\t' || c > '~' })
}

// secretText judges a value that may be a URL, or a part of one: user info, path, query and fragment are each judged as
// those of a request's URL are.
func secretText(text string, left int) bool {
	text, fragment, _ := strings.Cut(text, "#")
	path, query, hasQuery := strings.Cut(text, "?")
	host := ""
	if scheme, rest, ok := strings.Cut(path, "://"); ok {
		authority, local, _ := strings.Cut(rest, "/")
		if scheme != "" && strings.Contains(authority, "@") {
			return true
		}
		host, path = authority, "/"+local
	} else if !strings.HasPrefix(path, "/") && !hasQuery && strings.Contains(path, "=") {
		path, query = "", path // a=b&c=d by itself
	}
	judge := func(name, value string) bool { return secretParamIn(name, value, left) }
	if hasQuery {
		judge = secretsBehind(host, path, query, left)
	}
	return secretPath(host, path) || anyParam(query, judge) ||
		fragment != "" && secretAnchor(fragment, strings.HasPrefix(fragment, "/"), left)
}

// secretJSON judges the members of a value that is a JSON text, or the beginning of one: each counts as a parameter of
// its name. What does not parse is searched for pairs that look like members.
func secretJSON(text []byte, left int) bool {
	var v any
	if json.Unmarshal(text, &v) == nil {
		return secretMember("", v, left)
	}
	for _, m := range member().FindAllSubmatch(text, -1) { // cut short, or JavaScript
		if secretParamIn(string(m[1]), string(m[2]), left) {
			return true
		}
	}
	return false
}

// member matches a member of what is like JSON.
var member = lazy.Pattern(`["']?([A-Za-z0-9_.-]+)["']?\s*[:=]\s*["']?([^"',}\]\s]+)`)

// secretMember judges a member of a JSON text by name and value. The elements of a list are judged under the name of
// the list.
func secretMember(name string, v any, left int) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if secretMember(name, member, left) {
				return true
			}
		}
	case []any:
		for _, member := range v {
			if secretMember(name, member, left) {
				return true
			}
		}
	case string:
		return v != "" && secretParamIn(name, v, left)
	case float64:
		return secretParamIn(name, fmt.Sprint(v), left)
	}
	return false
}
