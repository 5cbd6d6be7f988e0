package store_test

import (
	"testing"

	"github.com/readthru/readthru/store"
)

func TestReplacedVariantLeavesTheTagsOfOthers(t *testing.T) {
	s := openStore(t, store.Options{})
	variant := func(lang string, tags ...string) *store.Response {
		r := response("https://a.test/")
		r.Vary, r.Selecting, r.Tags = []string{"accept-language"}, map[string]string{"accept-language": lang}, tags
		return r
	}
	put(t, s, variant("en", "news"), "en")
	put(t, s, variant("de", "news"), "de")
	put(t, s, variant("de"), "de, without a tag")
	if n, err := s.DeleteTaggedResponses("news"); n != 1 || err != nil {
		t.Errorf("DeleteTaggedResponses = %d, %v, want the one that still has the tag", n, err)
	}
}
