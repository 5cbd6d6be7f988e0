package judge

import (
	"context"
	"net/url"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/charset"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/head"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/convert/normalise"
	"github.com/readthru/readthru/convert/rules"
	"github.com/readthru/readthru/convert/signs"
)

// readPage reads a page of HTML in the steps of package convert, which imports this one.
func readPage(ctx context.Context, content []byte, contentType string, u *url.URL) (Page, error) {
	text, _, err := charset.Decode(content, contentType, guard.MaxPage)
	if err != nil {
		return Page{}, err
	}
	text = dom.FromXHTML(ctx, text, false)
	root, _, err := dom.Parse(ctx, text)
	if err != nil {
		return Page{}, err
	}
	h := head.Read(root, u)
	body := dom.Find(root, func(n *html.Node) bool { return dom.Is(n, atom.Body) })
	if body == nil {
		body = normalise.Frameset(root)
	}
	w := hidden.New(root)
	normalise.UnwrapShadowRoots(body, w)
	var s signs.Signs
	s.Judge(ctx, root, body, h.ArticleBody, len(text))
	manual := rules.ManualSigns(root)
	normalise.Body(ctx, body, h.Base, u, w)
	kind := rules.TypeOf(ctx, u, &h, body, manual)
	if kind == rules.Listing && s.Words >= signs.ThinWords {
		h.Forget()
	}
	return Page{Body: body, Kind: kind, Head: &h, Words: s.Words}, nil
}
