package convert

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/footnote"
	"github.com/readthru/readthru/convert/formats"
	"github.com/readthru/readthru/convert/formula"
	"github.com/readthru/readthru/convert/head"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/convert/judge"
	"github.com/readthru/readthru/convert/links"
	"github.com/readthru/readthru/convert/normalise"
	"github.com/readthru/readthru/convert/rules"
	"github.com/readthru/readthru/convert/signs"
	"github.com/readthru/readthru/page"
)

// edition counts the changes of output that no rule table shows. Raise it with each.
const edition = 41

// Version names the rules: it changes whenever output may change, so that renditions kept by callers are made again. It
// is derived from edition and the rule tables. Package fetch keeps it with each rendition.
var Version = sync.OnceValue(version)

// ruleTables are the rules that are data.
var ruleTables = slices.Concat(
	[]any{page.TrackingParameters},
	links.Rules, head.Rules, signs.Rules, hidden.Rules, css.Rules, footnote.Rules, formula.Rules, normalise.Rules,
	rules.Rules, judge.Rules, formatRules, formats.NameRules, formats.KindRules,
)

// version returns the edition and a hash of all rule tables, as one word.
func version() string {
	h := xxhash.New()
	fmt.Fprint(h, ruleTables...) //nolint:errcheck // a hash never fails
	return strconv.Itoa(edition) + "-" + strconv.FormatUint(h.Sum64(), 36)[:8]
}
