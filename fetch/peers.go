package fetch

import (
	"context"
	"slices"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Peers are other nodes that share what a browser, markdown.new or a model made of pages. Its methods are safe for
// concurrent use.
type Peers interface {
	// AskRendition looks for what a peer made of the page of a URI by a recipe, and waits for a peer that makes it just
	// now. If it returns nil, the caller calls TellRendition once it has made one, or done if it has none to tell of;
	// makes says whether it can make one. What AskRendition returns is the caller's, and not stored.
	AskRendition(ctx context.Context, k page.Key, uri, recipe string, makes bool) (r *store.Rendition, done func())

	// TellRendition has peers told of a rendition that was begun at a time. It does not wait.
	TellRendition(k page.Key, uri string, began time.Time, r *store.Rendition)
}

// Join has f share renditions with peers. It must be called before the first request.
func (f *Fetcher) Join(p Peers) { f.peers = p }

// sharing is what an attempt has to do with peers, the other nodes. Peers are asked once, by the first step that needs
// more than the page's bytes: for most pages none does.
type sharing struct {
	asked bool
	taken bool   // the rendition is a peer's
	done  func() // says that there is none to tell of; nil: nobody waits
}

// ofPeer returns what a peer made of the page, as the result of a step that would now make it, if makes is true.
func (f *Fetcher) ofPeer(ctx context.Context, a *attempt, makes bool) (res result, ok bool) {
	s := a.sharing
	if s == nil || s.asked {
		return result{}, false
	}
	s.asked = true
	if deadline, ok := ctx.Deadline(); ok { // there must be time left to make it
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	r, done := f.peers.AskRendition(ctx, a.key, a.at.uri, a.pageRecipe(a.recipe()), makes)
	s.done = done
	if r == nil || !f.mayRecall(a, r) {
		return result{}, false
	}
	s.taken, a.kept = true, true
	return result{rendition: r, good: true, reason: "made by " + string(r.From) + " of another node"}, true
}

// mayRecall reports whether a rendition that was made of more than the bytes in hand, a peer's or our own, may answer
// now.
func (f *Fetcher) mayRecall(a *attempt, r *store.Rendition) bool {
	return a.started.Before(r.Expires) && slices.Contains(a.cascade, string(r.From)) &&
		(r.From != page.Browser || a.renderMode() != RenderNever && !a.strays(r.FinalURL)) &&
		(!a.req.NoRemote || !f.madeByThirdParty(r))
}

// endSharing tells peers of the rendition that was kept by the page, or, if none was, that they need not wait for it.
func (f *Fetcher) endSharing(a *attempt, kept bool) {
	switch s := a.sharing; {
	case s == nil:
	case kept && !s.taken && a.best.From != page.Alternate:
		f.peers.TellRendition(a.key, a.at.uri, a.started, a.best)
	case s.done != nil:
		s.done()
	}
}
