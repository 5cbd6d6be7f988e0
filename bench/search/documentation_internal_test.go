package main

import (
	"strings"
	"testing"
)

// The set is large enough to tell rankings apart: at least 150 queries of at least eight classes.
func TestAgentQueries(t *testing.T) {
	address := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(agentQueries), "\n")[1:] {
		_, pages, _ := strings.Cut(line[strings.IndexByte(line, '\t')+1:], "\t")
		for _, page := range strings.Fields(pages) {
			address[page] = "https://docs.test/" + page
		}
	}
	queries, err := readAgentQueries(agentQueries, address)
	if err != nil {
		t.Fatal(err)
	}
	classes, halves, seen := map[string]int{}, [2]int{}, map[string]bool{}
	for _, q := range queries {
		classes[q.class]++
		halves[q.half]++
		if seen[q.text] || len(q.grades) == 0 {
			t.Errorf("%q is there twice or has no page", q.text)
		}
		seen[q.text] = true
	}
	if len(queries) < 150 || len(classes) < 8 {
		t.Errorf("%d queries of %d classes, want 150 of 8 at least", len(queries), len(classes))
	}
	if d := halves[0] - halves[1]; d < 0 || d > len(classes) {
		t.Errorf("halves of %v queries", halves)
	}
}

func TestAgentQueriesNameKnownPages(t *testing.T) {
	const head = "class\tquery\tpages\n"
	for _, tt := range []struct{ table, want string }{
		{head + "flag\tgit log -p\tgit:git-log git:nowhere\n", "there is no page git:nowhere"},
		{head + "flag\tgit log -p\n", "line 2 of the queries has 2 fields"},
	} {
		if _, err := readAgentQueries(tt.table, map[string]string{"git:git-log": "https://a.test"}); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

func TestTallyCountsPlaces(t *testing.T) {
	q := query{class: "flag", half: 1, grades: map[string]float64{"b": 1}}
	b := byClass{}
	for _, urls := range [][]string{{"b", "a"}, {"a", "b"}, {"1", "2", "3", "4", "5", "b"}, {"a"}, nil} {
		b.add(&q, q.placeOf(urls))
	}
	want := tally{queries: 5, first: 1, five: 2, reciprocal: 1 + 1./2 + 1./6}
	for _, name := range []string{"flag", "second half", "all"} {
		if got := b[name]; got == nil || *got != want {
			t.Errorf("tally of %s: %+v, want %+v", name, got, want)
		}
	}
}
