package store

import (
	"encoding/json"

	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/tally"
)

// recount finds the totals by scanning, when their record is damaged or older than the rest. What no record tells any
// more (visits by source, tokens) is taken from before.
func recount(k *kv.DB, before kv.Totals) kv.Totals {
	t := before.Clone()
	t.Uncertain = false
	t.Pages, t.Versions, t.Responses, t.Bytes, t.Jobs = 0, 0, 0, 0, 0
	k.Walk(kv.Scan{Prefix: "p/", Keys: true}, func(string, []byte) bool { t.Pages++; return true })
	k.Walk(kv.Scan{Prefix: "pv/"}, func(_ string, value []byte) bool {
		var list []struct{}
		if json.Unmarshal(value, &list) == nil {
			t.Versions += int64(len(list))
		}
		return true
	})
	k.Walk(kv.Scan{Prefix: "u/"}, func(_ string, value []byte) bool {
		v, _ := decodeVariants(value)
		t.Responses += int64(len(v.IDs))
		return true
	})
	k.Walk(kv.Scan{Prefix: "d/"}, func(_ string, value []byte) bool {
		if m, ok := decodeManifest(value); ok && m.Responses > 0 {
			t.Bytes += m.Length
		}
		return true
	})
	k.Walk(kv.Scan{Prefix: "j/", Keys: true}, func(string, []byte) bool { t.Jobs++; return true })
	if t.Visits == 0 {
		k.Walk(kv.Scan{Prefix: "c/p/"}, func(_ string, value []byte) bool {
			t.Visits += tally.Decode(value).N
			return true
		})
	}
	return t
}
