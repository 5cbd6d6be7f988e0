package store

import (
	"testing"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/body"
	"github.com/readthru/readthru/store/tally"
	"github.com/readthru/readthru/store/wire"
)

func FuzzFormsOfForeignBytes(f *testing.F) {
	r := &Response{
		URL: "https://a.test/", Vary: []string{"accept"}, Selecting: map[string]string{"accept": "x"},
		Header: map[string][]string{"A": {"b", "c"}},
	}
	f.Add(r.encode())
	f.Add(body.Manifest{Length: 9, Refs: 1}.Encode())
	f.Add(wire.Pack(&pageRecord{Page: page.Record{URL: "https://a.test/", Meta: page.Meta{"lang": "en"}}}))
	f.Add(wire.Pack(&renditionRecord{Rendition{Recipe: "x", Warnings: []string{"thin"}}, Sum{1}}))
	f.Add((&variants{URL: "https://a.test/", IDs: []EntryID{{1}}}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		// Whatever the bytes are, nothing panics, and what is decoded encodes to something that decodes again.
		if r, ok := decodeResponse(b); ok {
			if _, ok := decodeResponse(r.encode()); !ok {
				t.Errorf("%+v does not decode again", r)
			}
		}
		if v, ok := decodeVariants(b); ok {
			if _, ok := decodeVariants(v.encode()); !ok {
				t.Errorf("%+v does not decode again", v)
			}
		}
		if len(b) > 0 && b[0] == wire.PackedForm {
			var p pageRecord
			if wire.Unmarshal(b, &p) && !wire.Unmarshal(wire.Pack(&p), &pageRecord{}) {
				t.Errorf("%+v does not decode again", p)
			}
			var r renditionRecord
			if wire.Unmarshal(b, &r) && !wire.Unmarshal(wire.Pack(&r), &renditionRecord{}) {
				t.Errorf("%+v does not decode again", r)
			}
		}
		body.Decode(b)
		tally.Decode(b)
	})
}
