package httpfield

import (
	"strconv"
	"strings"
)

// Weighted splits an element of a negotiation field into its value and its weight (RFC 9110 §12.4.2), from 0 to 1: 1
// if it states none. If the weight is malformed, ok is false and the weight is 0.
func Weighted(element string) (value string, weight float64, ok bool) {
	value, params, _ := strings.Cut(element, ";")
	value = strings.TrimSpace(value)
	for param := range strings.SplitSeq(params, ";") {
		name, text, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		weight, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(weight >= 0 && weight <= 1) { // the negation rejects NaN too
			return value, 0, false
		}
		return value, weight, true
	}
	return value, 1, true
}
