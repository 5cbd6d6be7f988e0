package convert

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/footnote"
	"github.com/readthru/readthru/convert/formula"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/page"
)

// edition counts the changes of output that no rule table shows.
const edition = 30

// Version names the rules: it changes whenever output may change, so that renditions kept by callers are made again. It
// is derived from edition and the rule tables.
var Version = sync.OnceValue(version)

// ruleTables are the rules that are data.
var ruleTables = slices.Concat([]any{
	gutterClasses, notCode, lineClasses, langPrefixes, knownLanguages, schemes, permalinks,
	lazySources, trackers, spacerNames, callouts,
	labelPrefixes, langKeys, editorClasses, editorTextClasses, calloutBoxes, titledBoxes, boxPrefixes, kindPrefixes,
	calloutTitles,
}, footnote.Rules, formula.Rules, css.Rules, hidden.Rules, []any{
	manualRoots,
	manualLabels, tocNames,
	page.TrackingParameters, redirectors, adHosts, signInNames, signInRequests,
	paywallRequests, failureNames, errorPhrases, wallMarks, wallPhrases,
	badNames, elsewhereHeadings, labels, apartNames, boxNames, boxesNames, commentNames, extras, postNames, forumKeeps,
	manualKeeps, menuNames, tableMenus, weakNames, chromeRoles,
	generators, bookRelations, directions, turnRelations, controls, sourceLinks,
	depthKeys, depthClasses, commentParts, quoteBoxes, quoteHeads, quoteLines, quotedNames, postBoxes,
	rowBullets, rowDashes,
	documentationClasses, forumMarks, metaKeys, dateKeys, authorKeys, dateForms, dayForms,
	authorNames, dateNames, packedModel, pageFormats, typeFormats, saysNothing, endings, fileEndings, fileNames,
	mediaNames, elsewhereBeginnings, tagLabels, partRoles, clones,
})

func version() string {
	h := xxhash.New()
	fmt.Fprint(h, ruleTables...) //nolint:errcheck // a hash never fails
	return strconv.Itoa(edition) + "-" + strconv.FormatUint(h.Sum64(), 36)[:8]
}
