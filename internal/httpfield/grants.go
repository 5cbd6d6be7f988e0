package httpfield

import (
	"net/http"
	"strings"
)

// Grants reports whether a response field with this canonical name gives the client that asked something by which it is
// known from then on: a cookie, a token, a session, a password. It is for that client alone.
//
// Names are judged by their words, as origins invent them: X-Subject-Token, X-Csrf-Token, Replay-Nonce. Numbers of
// tokens and the like are none, nor are the permissions of Access-Control-*, and what browsers alone act on (Sec-*).
func Grants(name string) bool {
	switch name {
	case "Set-Cookie", "Set-Cookie2":
		return true
	}
	if strings.HasPrefix(name, "Access-Control-") || strings.HasPrefix(name, "Sec-") {
		return false
	}
	grants, before := false, ""
	for rest, more := name, true; more; {
		var word string
		word, rest, more = strings.Cut(rest, "-")
		switch word {
		case "Token", "Password", "Passwd", "Secret", "Authorization", "Auth", "Jwt", "Csrf", "Xsrf", "Session", "Sid",
			"Sessionid", "Apikey", "Nonce", "Otp", "Credential", "Bearer", "Csrftoken", "Xsrftoken", "Authtoken",
			"Accesstoken", "Refreshtoken", "Sessiontoken", "Idtoken", "Cookie":
			grants = true
		case "Key":
			grants = grants || before == "Api" || before == "Access" || before == "Private"
		case "Count", "Limit", "Remaining", "Reset", "Usage", "Type", "Expires", "Expiry", "Method", "Name", "Enabled",
			"Status":
			return false
		}
		before = word
	}
	return grants
}

// RemoveGrants removes the fields that [Grants] names, of a response that somebody else has asked for.
func RemoveGrants(h http.Header) {
	for name := range h {
		if Grants(name) {
			delete(h, name)
		}
	}
}
