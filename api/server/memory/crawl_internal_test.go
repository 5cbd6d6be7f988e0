package memory

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/crawl"
)

func TestRemarksNameWhatACrawlLeftAndHowToAskForIt(t *testing.T) {
	r := &crawl.Report{Trapped: 2, Cut: []crawl.Cut{{Pattern: "/cal?m=*", Row: 15, Left: 33}}}
	want := []string{
		"2 links were left out because their addresses look endless",
		"33 URLs like /cal?m=* were left out, because 15 pages in a row said nothing new; to read them, include '/cal?m=*'",
	}
	if diff := cmp.Diff(want, remarks(r)); diff != "" {
		t.Errorf("remarks (-want +got):\n%s", diff)
	}
	for i := range 2 * maxCuts {
		r.Cut = append(r.Cut, crawl.Cut{Pattern: fmt.Sprintf("/%d/*", i), Row: 10, Left: 1})
	}
	list := remarks(r)
	if len(list) != maxCuts+2 || list[len(list)-1] != "URLs like 11 others were left out for the same reason" {
		t.Errorf("remarks on %d parts = %q", len(r.Cut), list)
	}
}
