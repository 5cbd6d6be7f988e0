package main

import "slices"

// found is a passage that an engine found.
type found struct {
	url   string
	score float64
}

// pagesOf ranks documents by their passages, best first, by readthru's rule: the best passage and less of the second
// and third.
func pagesOf(passages []found, limit int) []string {
	scores, count := map[string]float64{}, map[string]int{}
	share := []float64{1, .3, .1}
	var urls []string
	for _, p := range passages {
		n := count[p.url]
		if count[p.url]++; n >= len(share) {
			continue
		}
		if n == 0 {
			urls = append(urls, p.url)
		}
		scores[p.url] += share[n] * p.score
	}
	slices.SortStableFunc(urls, func(a, b string) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	return urls[:min(limit, len(urls))]
}
