package store_test

import (
	"strings"
	"testing"
	"time"

	"readthru/page"
	"readthru/store"
)

func TestLookupReadsWhatAnswersARequestForAPage(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/"
	put(t, s, response(url), "older")
	other := response(url)
	other.Class = "other"
	newest := put(t, s, other, "newest")
	if err := s.PutRendition(&store.Rendition{Source: newest.Body, Recipe: "body", Title: "of the body"}); err != nil {
		t.Fatal(err)
	}
	if err := s.PutPageRendition(page.KeyOf(url), &store.Rendition{Recipe: "page", Title: "of the page"}); err != nil {
		t.Fatal(err)
	}
	putPage(t, s, url, "content")
	if _, _, err := s.Learn("a.test", store.Twins, "", "", time.Now()); err != nil {
		t.Fatal(err)
	}
	q := store.Query{URI: url, Host: "a.test", Page: page.KeyOf(url), Recipes: func(r *store.Response) (string, string) {
		if r.Body != newest.Body {
			t.Errorf("recipes wanted of the response with body %s, want the newest", r.Body)
		}
		return "page", "body"
	}}
	found := s.Lookup(q)
	if len(found.Responses) != 2 || found.Page == nil || !found.Host.Knows(store.Twins, time.Now()) ||
		found.OfPage == nil ||
		found.OfPage.Title != "of the page" || found.OfBody == nil || found.OfBody.Title != "of the body" {
		t.Errorf("found: %+v", found)
	}
	q.URI = "https://a.test/other"
	found = s.Lookup(q)
	if len(found.Responses) != 0 || found.Page != nil || found.OfPage != nil ||
		!found.Host.Knows(store.Twins, time.Now()) {
		t.Errorf("found without responses: %+v", found)
	}
}

func TestPutResponseDeletesTheObsolete(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/"
	for _, class := range []string{"kept", "obsolete"} {
		r := response(url)
		r.Class = class
		put(t, s, r, class)
	}
	err := s.PutResponse(response(url), strings.NewReader("new"), func(o *store.Response) bool {
		return o.Class == "obsolete"
	})
	if err != nil {
		t.Fatal(err)
	}
	list := responses(t, s, url)
	if len(list) != 2 || list[0].Class == "obsolete" || list[1].Class == "obsolete" {
		t.Errorf("%d responses are left: %+v", len(list), list)
	}
}
