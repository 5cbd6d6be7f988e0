package knowledge

import (
	"slices"
	"strings"

	"github.com/readthru/readthru/knowledge/analysis"
)

// namedSite is how much a passage gains whose site a query names, as a share of its score: "how do I parse arguments in
// node" is asked of the pages of nodejs.org, whatever others say of arguments. Of .1 to .5 it was the best on the first
// half of the agent queries.
const namedSite = .5

// favourSites adds to the scores of passages of sites that a query names beside other words, and sorts them again.
func (x *searchIndex) favourSites(parsed *query, found []match) {
	var names []string
	words := 0
	for i := range parsed.terms {
		t := &parsed.terms[i]
		if t.part || t.prefix || t.language != 0 || empty(t.form) {
			continue
		}
		words++
		names = append(names, t.form)
		if same := analysis.SameName[t.form]; same != "" {
			names = append(names, same)
		}
	}
	if words < 2 {
		return
	}
	named := map[uint32]bool{} // hosts
	for i := range found {
		m := &found[i]
		for _, owner := range m.owners {
			host := x.docs.rows[owner].host
			is, known := named[host]
			if !known {
				is = slices.ContainsFunc(siteNames(x.docs.names.list[host]), func(name string) bool {
					return slices.Contains(names, name)
				})
				named[host] = is
			}
			if is {
				m.site = namedSite * m.score
				m.score += m.site
				break
			}
		}
	}
	sortMatches(found)
}

// siteNames returns what a host is called by: its names but the last, and the parts of those, without the ones that
// many sites have.
func siteNames(host string) (names []string) {
	host, _, _ = strings.Cut(host, ":")
	labels := strings.Split(host, ".")
	for _, label := range labels[:len(labels)-1] {
		if !commonLabels[label] {
			names = append(names, label)
			if parts := strings.Split(label, "-"); len(parts) > 1 {
				names = append(names, parts...)
			}
		}
	}
	return names
}

// commonLabels are names of hosts that say nothing of what a site is about.
var commonLabels = analysis.WordSet("www docs doc dev developer developers api help support learn wiki blog man en co com org")
