package signs

// contentWords is the number of visible words from which a page counts as content, whatever else it asks for. Half and
// a quarter of it are bounds of requests to sign in.
const contentWords = 400

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
