package signs

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/internal/lazy"
)

// facts are the facts by which errorPage, softError, loginWall and paywall judge a page: its names, its amount of text,
// and its requests to the reader. They are collected in one walk over the page.
type facts struct {
	title, h1 string // in lower case, on one line
	text      string // what a reader sees, in lower case, on one line; empty for pages of over contentWords words
	words     int    // visible
	passwords int    // fields for a password, outside navigation
	locked    bool   // the page's own metadata says that it is not free to read
	content   bool   // there is an article, or code
}

// contentWords is the number of visible words from which a page counts as content, whatever else it asks for. Half and
// a quarter of it are bounds of requests to sign in.
const contentWords = 400

// lockedMark is how JSON-LD says that an article is not free. It is looked for in the text of the script, as such data
// is often not valid.
var lockedMark = lazy.Pattern(`(?i)"isaccessibleforfree"\s*:\s*"?false`)

// factsOf collects the facts about the page below root. The text is taken of short pages alone.
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
			!dom.Within(d, atom.Nav, atom.Header, atom.Footer) && !unshown(d):
			f.passwords++
		case dom.Is(d, atom.Script) && dom.Attr(d, "type") == "application/ld+json" && d.FirstChild != nil:
			f.locked = f.locked || lockedMark().MatchString(d.FirstChild.Data)
		case dom.Is(d, atom.Meta) && dom.Attr(d, "property") == "article:content_tier":
			f.locked = f.locked || strings.EqualFold(dom.Attr(d, "content"), "locked")
		}
	}
	if c.words < contentWords {
		f.text = strings.ToLower(textOf(body))
	}
	return f
}

// textOf returns the text below n on one line, with a space at the edges of blocks and buttons. Scripts, styles and
// drawings have none.
func textOf(n *html.Node) string {
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

// unshown reports whether n is in a form or a box that stays hidden until a script shows it. Dialogs to sign in are on
// most pages of some sites.
func unshown(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if dom.HasAttr(n, "hidden") || strings.EqualFold(dom.Attr(n, "aria-hidden"), "true") || dom.Attr(n, "style") != "" &&
			hidden.ByStyle(dom.Attr(n, "style")) {
			return true
		}
	}
	return false
}

// signInNames are words in the titles of sign-in pages. They are in lower case.
var signInNames = []string{
	"sign in", "sign-in", "signin", "log in", "log-in", "login", "sign into", "log into", "please sign",
	"please log", "authentication required", "single sign-on",
	"anmelden", "anmeldung", "einloggen", "connexion", "se connecter", "identifiez-vous", "iniciar sesión",
	"inicia sesión", "acceder", "accedi", "entrar", "logowanie", "войти", "ログイン", "登录", "登錄",
}

// signInRequests are sentences by which a page asks its readers to sign in before it shows its content. Longer texts
// may contain them, so that loginWall takes them of short pages alone.
var signInRequests = []string{
	"sign in to continue", "log in to continue", "login to continue", "please sign in", "please log in",
	"you must be logged in", "you need to be logged in", "you must log in", "you must sign in",
	"you need to sign in", "sign in to view", "log in to view", "sign in to see", "log in to see", "members only",
	"bitte melden sie sich an", "bitte anmelden", "veuillez vous connecter",
}

// loginWall returns the words by which a page asks its reader to sign in instead of showing its content, "" when it
// does not. A page with content and a field for a password is not such a page, nor is a page about signing in.
func (f facts) loginWall() string {
	if f.words >= contentWords/2 {
		return ""
	}
	name := FirstIn(signInNames, f.h1)
	if name == "" {
		name = FirstIn(signInNames, f.title)
	}
	request := FirstIn(signInRequests, f.text)
	switch {
	case f.passwords > 0 && (name != "" || request != ""):
		return name + request
	case f.passwords > 0 && f.words > 0 && f.words < ThinWords:
		return "password"
	case request != "" && f.words < contentWords/4:
		return request
	}
	return ""
}

// paywallRequests are sentences at the place where an article is cut off for readers who have not paid. They are in
// lower case.
var paywallRequests = []string{
	"subscribe to continue", "subscribe to read", "subscribe to keep reading", "subscribe to unlock",
	"to continue reading", "to keep reading", "continue reading with", "already a subscriber",
	"this article is for subscribers", "this content is for subscribers", "this story is for subscribers",
	"for subscribers only", "subscribers only", "exclusive to subscribers", "become a subscriber to",
	"become a member to", "this post is for paid subscribers", "this post is for paying subscribers",
	"unlock this article", "unlock the full", "to read the full", "you have reached your limit",
	"you've reached your limit",
	"free articles remaining", "free articles left", "articles remaining this month", "jetzt weiterlesen",
	"weiterlesen mit", "lesen sie diesen artikel mit", "nur für abonnenten", "réservé aux abonnés",
	"pour lire la suite",
	"contenido exclusivo para suscriptores", "para seguir leyendo",
}

// paywall returns the words at which an article is cut off for readers who have not paid, "" when it is not cut off.
// Metadata alone does not prove a cut: many pages that say that they are not free hold the whole text.
func (f facts) paywall() string {
	request := FirstIn(paywallRequests, f.text)
	switch {
	case request != "" && f.words < contentWords:
		return request
	case f.locked && f.words < ShellWords:
		return "isAccessibleForFree"
	}
	return ""
}

// FirstIn returns the first of phrases that stands in text as whole words, or "". phrases are in lower case, as text
// must be.
func FirstIn(phrases []string, text string) string {
	for _, phrase := range phrases {
		for at := 0; ; at++ {
			i := strings.Index(text[at:], phrase)
			if i < 0 {
				break
			}
			if at += i; wordAt(text, at, len(phrase)) {
				return phrase
			}
		}
	}
	return ""
}
