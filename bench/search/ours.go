package main

import (
	"context"
	"errors"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// ours is readthru's knowledge, whole: it keeps the documents, too.
type ours struct {
	store     *store.Store
	knowledge *knowledge.Knowledge
	build     *knowledge.Build
}

func openOurs(dir string) (engine, error) { return openWith(dir, nil) }

// openWith opens readthru's knowledge with the anchors of pages.
func openWith(dir string, anchors func(url string) []page.Anchor) (*ours, error) {
	return open(dir, anchors, false)
}

// reopen opens what was closed.
func reopen(dir string) (*ours, error) { return open(dir, nil, true) }

func open(dir string, anchors func(url string) []page.Anchor, anew bool) (*ours, error) {
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	var k *knowledge.Knowledge
	k, err = knowledge.Open(knowledge.Options{Store: s, Anchors: func(key page.Key) []page.Anchor {
		if anchors == nil {
			return nil
		}
		d, err := k.Document(key)
		if err != nil {
			return nil
		}
		return anchors(d.URL)
	}})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if _, err := k.CreateBase(knowledge.Base{Name: "bench", Source: "file"}); err != nil && !anew {
		return nil, err
	}
	b, err := k.Build("bench")
	return &ours{s, k, b}, err
}

func (o *ours) add(ctx context.Context, docs []document) error {
	for _, d := range docs {
		if err := o.build.Add(ctx, knowledge.Document{
			URL: d.url, Title: d.title, Kind: "file",
			Markdown: []byte(d.markdown),
		}); err != nil {
			return err
		}
	}
	return o.knowledge.Drain(ctx)
}

func (o *ours) search(ctx context.Context, text string, limit int) ([]string, error) {
	r, err := o.knowledge.Search(ctx, knowledge.Query{Text: text, Limit: limit})
	if err != nil {
		return nil, err
	}
	urls := make([]string, len(r.Hits))
	for i := range r.Hits {
		urls[i] = r.Hits[i].URL
	}
	return urls, nil
}

func (o *ours) close() error {
	o.build.Close()
	return errors.Join(o.knowledge.Close(), o.store.Close())
}
