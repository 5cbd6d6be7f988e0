package convert

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"readthru/convert/chars"
	"readthru/convert/dom"
	"readthru/convert/hidden"
)

// facts are what the judgements about a page go by: its names, how much it says, and what it asks for.
type facts struct {
	title, h1 string // in lower case, on one line
	text      string // what a reader sees, in lower case, on one line; empty for pages of over doorWords words
	words     int    // visible
	passwords int    // fields for a password, outside navigation
	locked    bool   // the page's own metadata says that it is not free to read
	content   bool   // there is an article, or code
}

// doorWords is how many words a page has at least that is content, whatever it asks for besides.
const doorWords = 400

// lockedMark is how metadata says that an article is not free: in JSON-LD, or in the tiers of article:content_tier.
var lockedMark = pattern(`(?i)"isaccessibleforfree"\s*:\s*"?false`)

// factsOf collects the facts about the page below root.
func factsOf(root, body *html.Node, c counts) facts {
	f := facts{words: c.words, content: dom.Contains(body, atom.Pre, atom.Article)}
	if h1 := dom.Find(body, func(n *html.Node) bool { return dom.Is(n, atom.H1) }); h1 != nil {
		f.h1 = strings.ToLower(dom.OneLine(h1))
	}
	for d := range root.Descendants() {
		switch {
		case dom.Is(d, atom.Title) && d.Namespace == "" && f.title == "":
			f.title = strings.ToLower(chars.OneLine(dom.Text(d)))
		case dom.Is(d, atom.Input) && strings.EqualFold(dom.Attr(d, "type"), "password") &&
			!dom.Within(d, atom.Nav, atom.Header, atom.Footer) && !keptBack(d):
			f.passwords++
		case dom.Is(d, atom.Script) && dom.Attr(d, "type") == "application/ld+json" && d.FirstChild != nil:
			f.locked = f.locked || lockedMark().MatchString(d.FirstChild.Data)
		case dom.Is(d, atom.Meta) && dom.Attr(d, "property") == "article:content_tier":
			f.locked = f.locked || strings.EqualFold(dom.Attr(d, "content"), "locked")
		}
	}
	if c.words < doorWords {
		f.text = strings.ToLower(spoken(body))
	}
	return f
}

// spoken returns the text below n on one line, with a space at the edges of blocks and buttons.
func spoken(n *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			edge := dom.IsBlock(c) || dom.Is(c, atom.Button, atom.Br, atom.Label)
			switch {
			case c.Type == html.TextNode:
				b.WriteString(c.Data)
			case dom.Is(c, atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Title):
				continue
			case edge:
				b.WriteByte(' ')
			}
			walk(c)
			if edge {
				b.WriteByte(' ')
			}
		}
	}
	walk(n)
	return chars.OneLine(b.String())
}

// keptBack reports whether a form or a box round n waits for a script: nobody is asked yet.
func keptBack(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if dom.HasAttr(n, "hidden") || strings.EqualFold(dom.Attr(n, "aria-hidden"), "true") || dom.Attr(n, "style") != "" &&
			hidden.ByStyle(dom.Attr(n, "style")) {
			return true
		}
	}
	return false
}

// signInNames are how pages that ask to sign in are called.
var signInNames = []string{
	"sign in", "sign-in", "signin", "log in", "log-in", "login", "sign into", "log into", "please sign", "please log",
	"authentication required", "single sign-on",
	"anmelden", "anmeldung", "einloggen", "connexion", "se connecter", "identifiez-vous", "iniciar sesión",
	"inicia sesión", "acceder", "accedi", "entrar", "logowanie", "войти", "ログイン", "登录", "登錄",
}

// signInPlea are sentences by which a page keeps what it has for those who sign in.
var signInPlea = []string{
	"sign in to continue", "log in to continue", "login to continue", "please sign in", "please log in",
	"you must be logged in", "you need to be logged in", "you must log in", "you must sign in",
	"you need to sign in", "sign in to view", "log in to view", "sign in to see", "log in to see", "members only",
	"bitte melden sie sich an", "bitte anmelden", "veuillez vous connecter",
}

// loginWall returns the words by which a page asks to sign in instead of showing what it has; empty when it does not. A
// field for a password beside content is none, and neither is a page about signing in.
func (f facts) loginWall() string {
	if f.words >= doorWords/2 {
		return ""
	}
	name := firstIn(signInNames, f.h1)
	if name == "" {
		name = firstIn(signInNames, f.title)
	}
	plea := firstIn(signInPlea, f.text)
	switch {
	case f.passwords > 0 && (name != "" || plea != ""):
		return name + plea
	case f.passwords > 0 && f.words > 0 && f.words < thinWords:
		return "password"
	case plea != "" && f.words < doorWords/4:
		return plea
	}
	return ""
}

// paywallPlea are sentences at which an article stops.
var paywallPlea = []string{
	"subscribe to continue", "subscribe to read", "subscribe to keep reading", "subscribe to unlock",
	"to continue reading", "to keep reading", "continue reading with", "already a subscriber",
	"this article is for subscribers", "this content is for subscribers", "this story is for subscribers",
	"for subscribers only", "subscribers only", "exclusive to subscribers", "become a subscriber to",
	"become a member to", "this post is for paid subscribers", "this post is for paying subscribers",
	"unlock this article", "unlock the full", "to read the full", "you have reached your limit",
	"you've reached your limit",
	"free articles remaining", "free articles left", "articles remaining this month", "jetzt weiterlesen",
	"weiterlesen mit", "lesen sie diesen artikel mit", "nur für abonnenten", "réservé aux abonnés", "pour lire la suite",
	"contenido exclusivo para suscriptores", "para seguir leyendo",
}

// paywall returns the words by which an article stops for those who have not paid; empty when it does not. Metadata
// alone says that somebody pays, not that the text is cut: many pages carry all of it.
func (f facts) paywall() string {
	plea := firstIn(paywallPlea, f.text)
	switch {
	case plea != "" && f.words < doorWords:
		return plea
	case f.locked && f.words < shellWords:
		return "isAccessibleForFree"
	}
	return ""
}

// softError returns the words by which a page that was answered with success says that it is not there; empty when it
// does not. Long pages, and those with an article or code, are about errors rather than errors.
func (f facts) softError() string {
	if f.words >= shellWords || f.content {
		return ""
	}
	if phrase := firstIn(errorPhrases, f.title); phrase != "" {
		return phrase
	}
	return firstIn(errorPhrases, f.h1)
}

// failureNames are how pages are called that stand for a server in trouble.
var failureNames = []string{
	"internal server error", "bad gateway", "service unavailable", "service temporarily unavailable", "gateway timeout",
	"gateway time-out", "502 bad", "503 service", "504 gateway", "500 internal",
	"web server is down", "error establishing a database connection", "database error", "application error",
	"server error in", "an error has occurred", "an error occurred", "something went wrong",
	"site under maintenance", "under maintenance", "scheduled maintenance", "temporarily unavailable", "temporarily down",
	"connection timed out", "origin is unreachable", "account suspended", "this account has been suspended",
	"bandwidth limit exceeded", "too many requests", "rate limit exceeded", "403 forbidden", "401 unauthorized",
	"request blocked",
}

// errorPage returns the name of an error that a page with few words bears; empty when it is none. A page about errors
// has more to say, or code.
func (f facts) errorPage() string {
	if f.words >= failureWords {
		return ""
	}
	for _, name := range []string{f.title, f.h1} {
		if phrase := firstIn(failureNames, name); phrase != "" {
			return phrase
		}
	}
	if f.words < thinWords/2 {
		return firstIn(failureNames, f.text)
	}
	return ""
}

// failureWords is how many words a page has at least that is no mere error.
const failureWords = 120

// firstIn returns the first of phrases that stands in text as whole words, or "".
func firstIn(phrases []string, text string) string {
	if text == "" {
		return ""
	}
	for _, phrase := range phrases {
		if i := strings.Index(text, phrase); i >= 0 && wordAt(text, i, len(phrase)) {
			return phrase
		}
	}
	return ""
}
