package page

import (
	"slices"
	"strings"
)

// TrackingParameters are the query parameters on which no page depends, in lower case: those that tell a site how a
// visitor came, and those that tell it who the visitor is, as the links of a mail do. A star at the end stands for any
// ending.
var TrackingParameters = slices.Concat(clickParameters, readerParameters)

// clickParameters tell how a visitor came, readerParameters who the visitor is. For [Unlisted] the two differ: a click
// identifies nobody.
var (
	clickParameters = strings.Fields(`utm_* gclid gclsrc dclid gbraid wbraid srsltid fbclid msclkid yclid ymclid _openstat
		twclid ttclid igshid igsh li_fat_id mc_cid _hsmi rb_clickid wickedid guccounter guce_referrer guce_referrer_sig`)
	readerParameters = strings.Fields(`mc_eid mkt_tok _hsenc __hssc __hstc __hsfp hsctatracking vero_id oly_enc_id
		oly_anon_id ml_subscriber ml_subscriber_hash`)
)

// Tracks reports whether a query parameter of this name is one of [TrackingParameters].
func Tracks(name string) bool { return anyName(TrackingParameters, name) }

// anyName reports whether a parameter is for tracking: its name, in any case, is one of names, in which a star at the
// end stands for any ending.
func anyName(names []string, name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(names, func(n string) bool {
		prefix, ok := strings.CutSuffix(n, "*")
		return n == name || ok && strings.HasPrefix(name, prefix)
	})
}
