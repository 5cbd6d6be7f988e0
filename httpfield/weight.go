package httpfield

import (
	"strconv"
	"strings"
)

// Weighted splits an element of a negotiation field into its value and its weight (RFC 9110 §12.4.2): 1 if it states
// none, 0 if the weight is malformed.
func Weighted(element string) (value string, weight float64) {
	value, params, _ := strings.Cut(element, ";")
	weight = 1
	for param := range strings.SplitSeq(params, ";") {
		if name, v, _ := strings.Cut(strings.TrimSpace(param), "="); strings.EqualFold(name, "q") {
			var err error
			if weight, err = strconv.ParseFloat(v, 64); err != nil || !(weight >= 0 && weight <= 1) {
				weight = 0
			}
		}
	}
	return strings.TrimSpace(value), weight
}
