package main

import (
	"strings"
	"testing"
)

// The sets are large enough to tell rankings and mistakes apart.
func TestSetsOfQueries(t *testing.T) {
	for _, tt := range []struct {
		name, table      string
		queries, classes int // at least
	}{
		{"what agents ask", agentQueries, 150, 8},
		{"misspelt", misspeltQueries, 150, 10},
		{"concepts", conceptQueries, 60, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			queries, err := readQueries(tt.table, 1, pagesOfTable(tt.table))
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
			if len(queries) < tt.queries || len(classes) < tt.classes {
				t.Errorf("%d queries of %d classes, want %d of %d at least", len(queries), len(classes), tt.queries, tt.classes)
			}
			if d := halves[0] - halves[1]; d < 0 || d > len(classes) {
				t.Errorf("halves of %v queries", halves)
			}
		})
	}
}

// pagesOfTable returns an address for each page that a table of queries names.
func pagesOfTable(table string) map[string]string {
	address := map[string]string{}
	for line := range strings.Lines(table) {
		for _, page := range strings.Fields(line[strings.LastIndexByte(line, '\t')+1:]) {
			address[page] = "https://docs.test/" + page
		}
	}
	return address
}

func TestMisspeltQueriesDifferFromWhatWasMeant(t *testing.T) {
	address := pagesOfTable(misspeltQueries)
	typed, err := readQueries(misspeltQueries, 1, address)
	meant, err2 := readQueries(misspeltQueries, 2, address)
	if err != nil || err2 != nil || len(typed) != len(meant) {
		t.Fatal(err, err2)
	}
	for i := range typed {
		if typed[i].text == meant[i].text {
			t.Errorf("%q has no mistake", typed[i].text)
		}
	}
}

func TestAgentQueriesNameKnownPages(t *testing.T) {
	const head = "class\tquery\tpages\n"
	for _, tt := range []struct{ table, want string }{
		{head + "flag\tgit log -p\tgit:git-log git:nowhere\n", "there is no page git:nowhere"},
		{head + "flag\tgit log -p\n", "line 2 of the queries has 2 fields, want 3"},
	} {
		if _, err := readQueries(tt.table, 1, map[string]string{"git:git-log": "https://a.test"}); err == nil ||
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
