package page

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// A parameter is a secret
//   - if its name says so, whatever its value is: secretNames has it, or a word of it,
//   - if its name may say so (secretNameWords, secretShortNames) and its value looks random,
//   - if its value has a secret itself: a JSON Web Token, a key with a telling prefix, or, however often encoded, a
//     URL, a query or a JSON text with a parameter or a member that is a secret.

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

// secretShortNames are names, too short for secretNameWords, of the same kind: sessions, signatures, tickets.
var secretShortNames = map[string]bool{"s": true, "k": true, "tk": true, "hm": true, "mtid": true}

// maxNesting bounds how often a value is decoded, or read as something that has values itself.
const maxNesting = 5

// secretsBehind returns what judges the parameters of the query behind an escaped path, where so many decodings are
// left. If one of the last two segments is about one reader's account, any value that looks random is one.
func secretsBehind(path string, left int) func(name, value string) bool {
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	account := slices.ContainsFunc(segments[max(len(segments)-2, 0):], aboutAccount)
	return func(name, value string) bool {
		return secretParamIn(name, value, left) || value == "" && bare(name) ||
			account && looksRandom(value) && !anyName(clickParameters, name)
	}
}

// aboutAccount reports whether a segment names a step that only the owner of an account is invited to.
func aboutAccount(segment string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(segment), separatesWords) {
		switch word {
		case "reset", "recover", "recovery", "verify", "verification", "confirm", "confirmation", "activate", "activation",
			"invite", "invitation", "magic", "magiclink", "unsubscribe", "optout", "unlock", "signup":
			return true
		}
	}
	return false
}

// secretParam judges a parameter by name and value alone.
func secretParam(given, value string) bool { return secretParamIn(given, value, maxNesting) }

// secretParamIn is [secretParam] where so many decodings are left.
func secretParamIn(given, value string, left int) bool {
	name := strings.ToLower(given)
	if value == "" { // a parameter that is but a value
		return secretValue(given, left)
	}
	switch {
	case name == "sid" && digits(value), name == "code" && strings.ContainsFunc(value, unicode.IsSpace):
		return false // an article, and a program
	case known(name), strings.HasPrefix(name, "x-amz-"), strings.HasPrefix(name, "x-goog-"),
		strings.HasPrefix(name, "aspsessionid"):
		return true
	}
	for word := range strings.FieldsFuncSeq(name, separatesWords) {
		if secretNames[word] { // part
			return true
		}
	}
	says := func(word string) bool { return strings.Contains(name, word) && !strings.Contains(name, "keyword") }
	mayBe := secretShortNames[name] || slices.ContainsFunc(secretNameWords, says)
	return mayBe && looksRandom(value) || secretValue(value, left)
}

func known(name string) bool {
	_, ok := secretNames[name]
	return ok
}

func separatesWords(r rune) bool { return r == '_' || r == '-' || r == '.' || r == '[' || r == ']' }

// looksRandom reports whether a value looks random: as [given], with what stands between the parts of signatures.
func looksRandom(value string) bool { return !digits(value) && given(inParts.Replace(value)) }

var inParts = strings.NewReplacer("+", "", "/", "", "=", "", ".", "-", "|", "-", "*", "-", "!", "-")

// bare reports whether a query that is nothing but a value looks random. A number does not: caches are passed by
// with one.
func bare(value string) bool {
	return !strings.ContainsAny(value, "/.") && (uuidLike.MatchString(value) || random(value, 16) ||
		len(value) >= 32 && hexLike.MatchString(value) && makeupOf(value).digits > 0)
}

// secretValue reports whether a value carries a secret, whatever its name is.
func secretValue(value string, left int) bool {
	if jwtLike.MatchString(value) || keyLike.MatchString(value) {
		return true
	}
	if left == 0 || len(value) < 6 {
		return false
	}
	if strings.Contains(value, "%") {
		if plain, err := url.QueryUnescape(value); err == nil && plain != value {
			return secretValue(plain, left-1)
		}
	}
	switch text := strings.TrimSpace(value); {
	case text == "":
		return false
	case text[0] == '{' || text[0] == '[':
		return secretJSON([]byte(text), left-1)
	case strings.HasPrefix(text, "ey") || strings.HasPrefix(text, "W3") || strings.HasPrefix(text, "ew"),
		strings.HasPrefix(text, "Wy"): // what {" and [{ begin with
		for _, coding := range []*base64.Encoding{base64.RawURLEncoding, base64.RawStdEncoding} {
			if plain, err := coding.DecodeString(strings.TrimRight(text, "=")); err == nil && secretJSON(plain, left-1) {
				return true
			}
		}
	case strings.ContainsAny(text, "=:/"):
		return secretText(text, left-1)
	}
	return false
}

// secretText judges a value that may be a URL, or a part of one.
func secretText(text string, left int) bool {
	text, fragment, _ := strings.Cut(text, "#")
	path, query, hasQuery := strings.Cut(text, "?")
	if scheme, rest, ok := strings.Cut(path, "://"); ok {
		authority, local, _ := strings.Cut(rest, "/")
		if scheme != "" && strings.Contains(authority, "@") {
			return true
		}
		path = "/" + local
	} else if !strings.HasPrefix(path, "/") && !hasQuery {
		path, query = "", path // a=b&c=d by itself
	}
	inside := func(name, value string) bool { return secretParamIn(name, value, left) }
	behind := inside
	if hasQuery {
		behind = secretsBehind(path, left)
	}
	return secretPath(path) || anyParam(query, behind) || anyParam(fragment, inside)
}

// secretJSON judges the members of a JSON text.
func secretJSON(text []byte, left int) bool {
	var v any
	return json.Unmarshal(text, &v) == nil && secretMember("", v, left)
}

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
