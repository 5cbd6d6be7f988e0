package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// judgements holds, by query, the grade of each document that was judged.
type judgements map[string]map[string]int

// readJudgements reads qrels.tsv. With yesNo every judged document has grade 1.
func readJudgements(name string, yesNo bool) (judgements, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was read
	judged := judgements{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			continue // headings
		}
		field := strings.Split(lines.Text(), "\t")
		if len(field) != 3 {
			return nil, fmt.Errorf("%s, line %d: not three fields", name, n)
		}
		grade, err := strconv.Atoi(field[2])
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		if yesNo {
			grade = 1
		}
		if judged[field[0]] == nil {
			judged[field[0]] = map[string]int{}
		}
		judged[field[0]][field[1]] = grade
	}
	return judged, lines.Err()
}

// scores are means over queries, 0 to 1. nDCG has linear gain and a discount of log2, as trec_eval's ndcg_cut.
type scores struct{ NDCG, MRR, Recall float64 }

// rate scores a run, which is documents by query, best first. A query without an answer counts 0.
func rate(judged judgements, run map[string][]string) scores {
	var sum scores
	for q, grades := range judged {
		ranked := run[q]
		ranked = ranked[:min(len(ranked), depth)]
		ideal := []int{}
		for _, g := range grades {
			ideal = append(ideal, g)
		}
		slices.SortFunc(ideal, func(a, b int) int { return b - a })
		got := make([]int, len(ranked))
		for i, doc := range ranked {
			got[i] = grades[doc]
		}
		if best := dcg(ideal); best > 0 {
			sum.NDCG += dcg(got) / best
		}
		found := 0
		for i, doc := range ranked {
			if _, right := grades[doc]; !right {
				continue
			}
			if found == 0 && i < cut {
				sum.MRR += 1 / float64(i+1)
			}
			found++
		}
		sum.Recall += float64(found) / float64(len(grades))
	}
	n := float64(max(len(judged), 1))
	return scores{sum.NDCG / n, sum.MRR / n, sum.Recall / n}
}

// cut is how many of the first documents nDCG and MRR look at.
const cut = 10

func dcg(grades []int) (sum float64) {
	for i, g := range grades[:min(len(grades), cut)] {
		sum += float64(g) / math.Log2(float64(i+2))
	}
	return sum
}
