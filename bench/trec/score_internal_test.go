package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestRate(t *testing.T) {
	third := 1 / math.Log2(3)
	for _, tt := range []struct {
		name   string
		judged judgements
		run    map[string][]string
		want   scores
	}{
		{"the right one first", judgements{"q": {"a": 1}}, map[string][]string{"q": {"a", "b"}}, scores{1, 1, 1}},
		{"the right one second", judgements{"q": {"a": 1}}, map[string][]string{"q": {"b", "a"}}, scores{third, .5, 1}},
		{
			"the right one eleventh counts for recall alone",
			judgements{"q": {"a": 1}},
			map[string][]string{"q": {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "a"}},
			scores{0, 0, 1},
		},
		{"no answer is 0", judgements{"q": {"a": 1}}, nil, scores{}},
		{
			"grades weigh, and the ideal has the best first",
			judgements{"q": {"a": 1, "b": 2}},
			map[string][]string{"q": {"a", "b"}},
			scores{(1 + 2*third) / (2 + third), 1, 1},
		},
		{
			"the mean of queries, one of them without an answer",
			judgements{"q": {"a": 1}, "r": {"b": 1}},
			map[string][]string{"q": {"a"}},
			scores{.5, .5, .5},
		},
		{
			"half of the right ones",
			judgements{"q": {"a": 1, "b": 1}},
			map[string][]string{"q": {"a"}},
			scores{1 / (1 + third), 1, .5},
		},
	} {
		got := rate(tt.judged, tt.run)
		for _, pair := range [][2]float64{{got.NDCG, tt.want.NDCG}, {got.MRR, tt.want.MRR}, {got.Recall, tt.want.Recall}} {
			if math.Abs(pair[0]-pair[1]) > 1e-12 {
				t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
				break
			}
		}
	}
}

func TestJudgementsAreReadBelowTheirHeadings(t *testing.T) {
	name := filepath.Join(t.TempDir(), "qrels.tsv")
	if err := os.WriteFile(name, []byte("query-id\tcorpus-id\tscore\n1\ta\t3\n1\tb\t1\n2\ta\t2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	graded, err := readJudgements(name, false)
	if err != nil || len(graded) != 2 || graded["1"]["a"] != 3 || graded["2"]["a"] != 2 {
		t.Errorf("graded: %v, %v", graded, err)
	}
	yesNo, err := readJudgements(name, true)
	if err != nil || yesNo["1"]["a"] != 1 || len(yesNo["1"]) != 2 {
		t.Errorf("yes or no: %v, %v", yesNo, err)
	}
	if err := os.WriteFile(name, []byte("headings\n1 a 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readJudgements(name, false); err == nil {
		t.Error("a line of one field is read without an error")
	}
}
