package remember

import (
	"testing"

	"github.com/readthru/readthru/knowledge"
)

func TestReasonsAreSentences(t *testing.T) {
	for _, tt := range []struct {
		term knowledge.Term
		want string
	}{
		{knowledge.Term{Term: "pool", Field: "text"}, `"pool" is in the text`},
		{knowledge.Term{Term: "pool", Field: "title"}, `"pool" is in the title`},
		{knowledge.Term{Term: "pool", Field: "path"}, `"pool" is in the headings above`},
		{knowledge.Term{Term: "connect pool", Field: "phrase"}, `"connect pool" stands there word for word`},
		{knowledge.Term{Term: "connect pool", Field: "near"}, `"connect" and "pool" stand near each other`},
		{knowledge.Term{Term: "list of links", Field: "kind"}, "the passage is a list of links"},
		{knowledge.Term{Term: "meaning", Field: "vectors"}, "the passage means something like it"},
		{knowledge.Term{Term: "further", Field: "passages"}, "other passages of the page suit, too"},
	} {
		if got := reasonOf(tt.term); got != tt.want {
			t.Errorf("reason of %v: %q, want %q", tt.term, got, tt.want)
		}
	}
}
