package cache

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// control reads what a response says to us: the first of the targeted fields that is there and well-formed, else
// Cache-Control. Where it is one of the former, Expires does not count either (RFC 9213 §2.2).
func (p *policy) control(h http.Header) control {
	for _, name := range p.targeted {
		if lines := h[http.CanonicalHeaderKey(name)]; len(lines) > 0 {
			if cc, ok := targetedControl(strings.Join(lines, ", ")); ok {
				return cc
			}
		}
	}
	return parseControl(h["Cache-Control"])
}

// targetedControl reads a targeted field, a Dictionary of Structured Fields (RFC 9213 §2.1, RFC 9651 §4.2.2). ok is
// false if it is none, is empty, or has a value of the wrong type for a directive we know: then the field counts as
// absent.
func targetedControl(s string) (cc control, ok bool) {
	cc = parseControl(nil)
	cc.targeted = true
	members, ok := parseDictionary(s)
	if !ok || len(members) == 0 {
		return cc, false
	}
	for name, value := range members {
		var flag *bool
		var lifetime *time.Duration
		switch name {
		case "max-age":
			lifetime = &cc.maxAge
		case "s-maxage":
			lifetime = &cc.sMaxAge
		case "stale-while-revalidate":
			lifetime = &cc.staleWhileRevalidate
		case "stale-if-error":
			lifetime = &cc.staleIfError
		case "no-store":
			flag = &cc.noStore
		case "no-cache":
			flag = &cc.noCache
		case "private":
			flag = &cc.private
		case "public":
			flag = &cc.public
		case "must-understand":
			flag = &cc.mustUnderstand
		case "must-revalidate":
			flag = &cc.mustRevalidate
		case "proxy-revalidate":
			flag = &cc.proxyRevalidate
		default:
			continue
		}
		switch {
		case lifetime != nil && value.kind == sfInteger && value.n >= 0:
			*lifetime = time.Duration(min(value.n, int64(maxDelta/time.Second))) * time.Second
		case flag != nil && value.kind == sfBoolean:
			*flag = value.n == 1
		case flag != nil && value.kind == sfOther && (name == "no-cache" || name == "private"):
			*flag = true // with field names: we mean the whole response, which is never wrong
		default:
			return cc, false
		}
	}
	return cc, true
}

// An sfKind is the type of a Structured Field value, as far as directives use any.
type sfKind int

const (
	sfOther sfKind = iota
	sfInteger
	sfBoolean
)

// An sfValue is a value of a Dictionary; n is an integer's value, or 1 for true.
type sfValue struct {
	kind sfKind
	n    int64
}

// parseDictionary parses a Dictionary (RFC 9651 §4.2.2). Of a repeated key the last value counts. Parameters are
// checked and dropped.
func parseDictionary(s string) (members map[string]sfValue, ok bool) {
	p := sfParser{s: strings.Trim(s, " ")}
	members = make(map[string]sfValue)
	for p.s != "" {
		key, ok := p.key()
		if !ok {
			return nil, false
		}
		value := sfValue{sfBoolean, 1}
		if p.eat('=') {
			if value, ok = p.member(); !ok {
				return nil, false
			}
		}
		if !p.parameters() {
			return nil, false
		}
		members[key] = value
		p.s = strings.TrimLeft(p.s, " \t")
		if p.s == "" {
			return members, true
		}
		if !p.eat(',') {
			return nil, false
		}
		if p.s = strings.TrimLeft(p.s, " \t"); p.s == "" {
			return nil, false // a trailing comma
		}
	}
	return members, true
}

// An sfParser takes parts off the front of s.
type sfParser struct{ s string }

func (p *sfParser) eat(c byte) bool {
	if p.s == "" || p.s[0] != c {
		return false
	}
	p.s = p.s[1:]
	return true
}

// while takes the longest prefix of bytes that f accepts.
func (p *sfParser) while(f func(c byte) bool) string {
	i := 0
	for i < len(p.s) && f(p.s[i]) {
		i++
	}
	taken := p.s[:i]
	p.s = p.s[i:]
	return taken
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlpha(c byte) bool { return isLower(c | 0x20) }

func (p *sfParser) key() (string, bool) {
	if p.s == "" || !isLower(p.s[0]) && p.s[0] != '*' {
		return "", false
	}
	return p.while(func(c byte) bool { return isLower(c) || isDigit(c) || strings.IndexByte("_-.*", c) >= 0 }), true
}

// member parses an item, or an inner list, without its parameters.
func (p *sfParser) member() (sfValue, bool) {
	if !p.eat('(') {
		return p.item()
	}
	for {
		p.while(func(c byte) bool { return c == ' ' })
		if p.eat(')') {
			return sfValue{}, true
		}
		if _, ok := p.item(); !ok || !p.parameters() {
			return sfValue{}, false
		}
		if p.s == "" || p.s[0] != ' ' && p.s[0] != ')' {
			return sfValue{}, false
		}
	}
}

func (p *sfParser) parameters() bool {
	for p.eat(';') {
		p.while(func(c byte) bool { return c == ' ' })
		if _, ok := p.key(); !ok {
			return false
		}
		if p.eat('=') {
			if _, ok := p.item(); !ok {
				return false
			}
		}
	}
	return true
}

// item parses a bare item (RFC 9651 §4.2.3.1).
func (p *sfParser) item() (sfValue, bool) {
	if p.s == "" {
		return sfValue{}, false
	}
	switch c := p.s[0]; {
	case c == '-' || isDigit(c):
		return p.number()
	case c == '"':
		return sfValue{}, p.str()
	case c == '?':
		digit := strings.TrimPrefix(p.s, "?")
		if digit == "" || digit[0] != '0' && digit[0] != '1' {
			return sfValue{}, false
		}
		p.s = digit[1:]
		return sfValue{sfBoolean, int64(digit[0] - '0')}, true
	case c == ':':
		content, rest, ok := strings.Cut(p.s[1:], ":")
		p.s = rest
		return sfValue{}, ok && strings.IndexFunc(content, func(r rune) bool {
			return r > 127 || !isAlpha(byte(r)) && !isDigit(byte(r)) && !strings.ContainsRune("+/=", r)
		}) < 0
	case c == '*' || isAlpha(c):
		p.while(func(c byte) bool { return isAlpha(c) || isDigit(c) || strings.IndexByte("!#$%&'*+-.^_`|~:/", c) >= 0 })
		return sfValue{}, true
	}
	return sfValue{}, false
}

func (p *sfParser) number() (sfValue, bool) {
	sign := int64(1)
	if p.eat('-') {
		sign = -1
	}
	digits := p.while(isDigit)
	if digits == "" || len(digits) > 15 {
		return sfValue{}, false
	}
	if p.eat('.') {
		fraction := p.while(isDigit)
		return sfValue{}, len(digits) <= 12 && len(fraction) >= 1 && len(fraction) <= 3
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return sfValue{sfInteger, sign * n}, err == nil
}

func (p *sfParser) str() bool {
	p.s = p.s[1:]
	for p.s != "" {
		c := p.s[0]
		p.s = p.s[1:]
		switch {
		case c == '"':
			return true
		case c == '\\':
			if p.s == "" || p.s[0] != '"' && p.s[0] != '\\' {
				return false
			}
			p.s = p.s[1:]
		case c < 0x20 || c > 0x7e:
			return false
		}
	}
	return false
}
