package page

import (
	"net/url"
	"regexp"
	"strings"
)

// SecretMask stands in for what is secret in logs, records and error texts.
const SecretMask = "***"

// HasSecret reports whether u carries something that looks like a credential: user info, a query or fragment parameter
// whose name or value looks secret, or a segment of its path or of its route that does. A request for such a URL counts
// as one with credentials: it is forwarded, but the page is not stored, indexed, exported or disclosed (rule AD4).
func HasSecret(u *url.URL) bool {
	if u.User != nil {
		return true
	}
	return anyParam(u.RawQuery, secretParam) || secretFragment(u) || secretPath(u.EscapedPath())
}

// secretFragment reports whether the fragment of u carries something that looks like a credential.
func secretFragment(u *url.URL) bool {
	if u.Fragment == "" {
		return false
	}
	path, query, _ := strings.Cut(u.EscapedFragment(), "?")
	return anyParam(path, secretParam) || anyParam(query, secretParam) || Route(u) != "" && secretPath(path)
}

// Mask returns u as text with everything replaced that looks secret, for logs, the ledger and error pages.
func Mask(u *url.URL) string {
	m := *u
	if m.User != nil {
		m.User = url.User(SecretMask)
	}
	if path := m.EscapedPath(); secretPath(path) {
		m.RawPath = maskPath(path)
		m.Path, _ = url.PathUnescape(m.RawPath) // it was escaped before, and the mask needs no escape
	}
	m.RawQuery = maskParams(m.RawQuery)
	if secretFragment(&m) {
		m.Fragment, m.RawFragment = SecretMask, ""
	}
	return strings.ReplaceAll(m.String(), url.QueryEscape(SecretMask), SecretMask)
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
		head = maskPath(head)
		if cut {
			head += "?" + SecretMask
		}
		return head
	}
	return Mask(u)
}

// secretNames are words that, alone or as part of a parameter's name, say that its value is a credential.
var secretNames = map[string]bool{
	"token": true, "key": true, "apikey": true, "sig": true, "signature": true, "password": true, "passwd": true,
	"pwd": true, "pass": true,
	"secret": true, "auth": true, "authorization": true, "bearer": true, "jwt": true, "credential": true,
	"credentials": true, "code": true,
	"session": true, "sessionid": true, "sid": true, "sessid": true, "phpsessid": true, "jsessionid": true, "otp": true,
	"pin": true, "hmac": true,
	"access_token": true, "accesstoken": true, "refreshtoken": true, "idtoken": true, "authtoken": true,
	"privatekey": true, "secretkey": true, "accesskey": true, "csrf": true, "xsrf": true,
	"ticket": true, "nonce": true, "assertion": true, "samlresponse": true, "samlrequest": true, "passphrase": true,
}

// jwtLike matches a JSON Web Token: three base64url parts, the first of which begins with {".
var jwtLike = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)

// keyLike matches keys whose issuers gave them a telling prefix.
var keyLike = regexp.MustCompile(`^(sk-|sk_live_|rk_live_|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza|fc-|ctx7sk|hf_|npm_)[A-Za-z0-9_-]{10,}`)

func secretParam(given, value string) bool {
	name := strings.ToLower(given)
	if secretNames[name] || strings.HasPrefix(name, "x-amz-") || strings.HasPrefix(name, "x-goog-") {
		return value != ""
	}
	for word := range strings.FieldsFuncSeq(name,
		func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == '[' || r == ']' }) {
		if secretNames[word] && word != "code" && word != "key" && word != "pin" && word != "pass" {
			return value != ""
		}
		if word == "key" && name != "key" { // api_key, private-key; "key" alone is in the table
			return value != ""
		}
	}
	if value == "" {
		value = given // a parameter that is but a value
	}
	return jwtLike.MatchString(value) || keyLike.MatchString(value)
}

func anyParam(query string, match func(name, value string) bool) bool {
	for part := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(part, "=")
		if match(unescape(name), unescape(value)) {
			return true
		}
	}
	return false
}

// maskParams masks the values of the secret parameters in query. Both separators that servers know, & and ;, stay.
func maskParams(query string) string {
	if !anyParam(query, secretParam) {
		return query
	}
	var b strings.Builder
	for query != "" {
		end := strings.IndexAny(query, "&;")
		if end < 0 {
			end = len(query)
		}
		part := query[:end]
		if name, _, hasValue := strings.Cut(part, "="); anyParam(part, secretParam) {
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

func unescape(s string) string {
	if u, err := url.QueryUnescape(s); err == nil {
		return u
	}
	return s
}
