package index

import (
	"slices"
	"strings"

	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/index/query"
	"github.com/readthru/readthru/knowledge/outline"
)

// searchedForNames is how many of the best documents are looked through for what a query names, and definedHere how
// much one gains that defines it, as a share of the best score.
const (
	searchedForNames = 10
	definedHere      = .5
)

// landmarked is the text of a document with its landmarks, and where it defines what the query names, once
// readLandmarks was called.
type landmarked struct {
	md      []byte
	known   bool
	list    []outline.Landmark
	defined outline.Definition
}

// newLandmarked returns a document whose landmarks may bring it favour.
func newLandmarked(md []byte) *landmarked {
	return &landmarked{md: md, defined: outline.Definition{Landmark: -1}}
}

// readLandmarks finds the landmarks of the text for which it may be favoured, the first time. A text that is too long
// has none.
func (w *landmarked) readLandmarks(names []string) {
	if w.known || len(w.md) > outline.MaxWalked {
		return
	}
	w.known, w.list = true, outline.Landmarks(w.md)
	w.defined = outline.DefinitionOf(w.list, names)
}

// favourDefinitions adds to the scores of documents that define what the query names, and sorts them again.
func (x *Index) favourDefinitions(parsed *query.Parsed, docs []ranked) {
	if len(parsed.Names) == 0 || len(docs) == 0 {
		return
	}
	most := docs[0].score
	for i := range docs[:min(len(docs), searchedForNames)] {
		d := &docs[i]
		key, ok := x.Document(d.doc)
		if !ok {
			continue
		}
		md, err := x.o.Text(key)
		if err != nil {
			continue // whoever shows it reads it again, and says so
		}
		if d.text = newLandmarked(md); outline.MayDefine(md, parsed.Names) {
			d.text.readLandmarks(parsed.Names)
		}
		if d.text.defined.Exact {
			d.defines = definedHere * most
			d.score += d.defines
		}
	}
	sortRanked(docs)
}

// namedSite is how much a passage gains whose site a query names, as a share of its score: "how do I parse arguments in
// node" is asked of the pages of nodejs.org, whatever others say of arguments. Of .1 to .5 it was the best on the first
// half of the agent queries.
const namedSite = .5

// favourSites adds to the scores of passages of sites that a query names beside other words, and sorts them again.
func (x *Index) favourSites(parsed *query.Parsed, found []match) {
	names := parsed.SiteNames()
	if len(names) == 0 {
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

// siteNames returns the names of a site, by which a query may favour it: its names but the last, and the parts of
// those, without the ones that many sites have.
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
var commonLabels = analysis.WordSet(
	"www docs doc dev developer developers api help support learn wiki blog man en co com org")
