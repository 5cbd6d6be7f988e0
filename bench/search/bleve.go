package main

import (
	"context"
	"path/filepath"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"
)

// bleveEngine is bleve with BM25 and its English analyser, over the same passages and fields.
type bleveEngine struct{ index bleve.Index }

func openBleve(dir string) (engine, error) {
	field := bleve.NewTextFieldMapping()
	field.Analyzer, field.Store, field.IncludeInAll, field.IncludeTermVectors = en.AnalyzerName, false, false, true
	url := bleve.NewTextFieldMapping()
	url.Index, url.Store, url.IncludeInAll = false, true, false
	doc := mapping.NewDocumentStaticMapping()
	for _, name := range []string{"text", "title", "path"} {
		doc.AddFieldMappingsAt(name, field)
	}
	doc.AddFieldMappingsAt("url", url)
	m := bleve.NewIndexMapping()
	m.DefaultMapping, m.DefaultAnalyzer, m.ScoringModel = doc, en.AnalyzerName, "bm25"
	x, err := bleve.New(filepath.Join(dir, "bench.bleve"), m)
	return &bleveEngine{x}, err
}

func (e *bleveEngine) add(_ context.Context, docs []document) error {
	b := e.index.NewBatch()
	for i := range docs {
		for _, p := range docs[i].passages() {
			if err := b.Index(p.id, map[string]string{
				"text": p.text, "title": p.title, "path": p.path,
				"url": p.url,
			}); err != nil {
				return err
			}
		}
	}
	return e.index.Batch(b)
}

func (e *bleveEngine) search(ctx context.Context, text string, limit int) ([]string, error) {
	all := bleve.NewDisjunctionQuery()
	for field, boost := range map[string]float64{"text": 1, "title": 2, "path": 2} {
		q := bleve.NewMatchQuery(text)
		q.SetField(field)
		q.SetBoost(boost)
		all.AddQuery(q)
	}
	req := bleve.NewSearchRequestOptions(all, 300, 0, false)
	req.Fields = []string{"url"}
	r, err := e.index.SearchInContext(ctx, req)
	if err != nil {
		return nil, err
	}
	list := make([]found, 0, len(r.Hits))
	for _, h := range r.Hits {
		url, _ := h.Fields["url"].(string)
		list = append(list, found{url, h.Score})
	}
	return pagesOf(list, limit), nil
}

func (e *bleveEngine) close() error { return e.index.Close() }
