// Package payment reads what an origin asks for a page that it does not give for nothing, so that whoever asked for the
// page learns the price. Nothing here pays.
//
// There are five ways to ask, all with status 402 (RFC 9110 §15.5.3 reserves it and says no more;
// draft-nottingham-httpbis-402-00 of August 2026 says what it means and leaves the ways to others):
//
//   - the field PAYMENT-REQUIRED, base64 of a JSON object (x402, version 2, of 2025);
//   - the same object as the content (x402, version 1);
//   - the field crawler-price: USD 0.01 (Cloudflare's pay per crawl, 2025);
//   - a challenge with the scheme Payment (draft-httpauth-payment-01 of September 2026);
//   - a challenge with the scheme L402, or LSAT as it was called, for an invoice of the Lightning network.
//
// Every text is the origin's: it is bounded, and on one line without characters that show nothing.
package payment

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/page"
)

// What is read of a demand at most.
const (
	maxContent = 64 << 10 // bytes of a JSON object, also in a field
	maxOffers  = 5
	maxText    = 120 // characters of each text
)

// Of returns the ways to pay that a response with status 402 offers, in its order. It is nil if none is readable, or if
// the status is another.
func Of(status int, h http.Header, content []byte) []page.Payment {
	if status != http.StatusPaymentRequired {
		return nil
	}
	var list []page.Payment
	if price := text(h.Get("Crawler-Price")); price != "" {
		currency, amount, ok := strings.Cut(price, " ")
		if !ok {
			currency, amount = "", price
		}
		list = append(list, page.Payment{By: "pay per crawl", Amount: amount, Currency: currency})
	}
	var inField []page.Payment
	if field := h.Get("Payment-Required"); len(field) <= maxContent {
		inField = x402(decoded(field))
	}
	if list = append(list, inField...); len(inField) == 0 && len(content) <= maxContent {
		list = append(list, x402(content)...)
	}
	for _, c := range challenges(h["Www-Authenticate"]) {
		switch strings.ToLower(c.scheme) {
		case "l402", "lsat":
			list = append(list, page.Payment{By: "L402", Network: "lightning", To: text(c.params["invoice"])})
		case "payment":
			list = append(list, ofScheme(c.params))
		}
	}
	return list[:min(len(list), maxOffers)]
}

// x402 reads the object of x402: both versions, which name the amount in two ways.
func x402(object []byte) (list []page.Payment) {
	var demand struct {
		X402Version json.RawMessage `json:"x402Version"`
		Accepts     []json.RawMessage
	}
	if json.Unmarshal(object, &demand) != nil || demand.X402Version == nil {
		return nil
	}
	for _, accepted := range demand.Accepts[:min(len(demand.Accepts), maxOffers)] {
		var offer struct {
			Scheme, Network, Asset, PayTo loose
			Amount, MaxAmountRequired     loose
			Extra                         json.RawMessage
		}
		var extra struct{ Name loose }
		if json.Unmarshal(accepted, &offer) != nil {
			continue
		}
		_ = json.Unmarshal(offer.Extra, &extra) // what is no object has no name
		list = append(list, page.Payment{
			By: strings.TrimSpace("x402 " + text(offer.Scheme)), Amount: text(cmp.Or(offer.Amount, offer.MaxAmountRequired)),
			Currency: text(extra.Name), Asset: text(offer.Asset), Network: text(offer.Network), To: text(offer.PayTo),
		})
	}
	return list
}

// ofScheme reads a challenge of the scheme Payment. Its request is an object whose amount counts the smallest unit of
// the currency: of a fiat currency, or of a token that is named by its address.
func ofScheme(params map[string]string) page.Payment {
	var request struct{ Amount, Currency, Recipient loose }
	if encoded := params["request"]; len(encoded) <= maxContent {
		_ = json.Unmarshal(decoded(encoded), &request) // what is unreadable says nothing
	}
	return page.Payment{
		By: strings.TrimSpace("Payment " + text(params["intent"])), Amount: text(request.Amount),
		Asset: text(request.Currency), Network: text(params["method"]), To: text(request.Recipient),
	}
}

// loose is a text, or a number as it is written: origins write amounts in both ways, and no amount is too large to be
// told. Anything else is empty.
type loose string

// UnmarshalJSON never fails, so that one odd member does not hide the others.
func (l *loose) UnmarshalJSON(value []byte) error {
	var s string
	if json.Unmarshal(value, &s) != nil && (value[0] == '-' || value[0] >= '0' && value[0] <= '9') {
		s = string(value)
	}
	*l = loose(s)
	return nil
}

// decoded returns what the base64 of an offer to pay holds, in either alphabet and with padding or without; nil if it
// is none.
func decoded(s string) []byte {
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimSpace(s)), "=")
	content, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return nil
	}
	return content
}

// A challenge is one of those in WWW-Authenticate (RFC 9110 §11.6.1).
type challenge struct {
	scheme string
	params map[string]string // by their names in lower case
}

// challenges reads the lines of WWW-Authenticate, which may ask to pay. One line may have several challenges, and a
// challenge several parameters, both apart by commas: an element whose first word has no equals sign begins a
// challenge.
func challenges(lines []string) (list []challenge) {
	for element := range httpfield.Elements(lines) {
		scheme, param, found := strings.Cut(element, " ")
		if !strings.Contains(scheme, "=") {
			list = append(list, challenge{scheme, map[string]string{}})
			if !found {
				continue
			}
		} else {
			param = element
		}
		name, value, ok := strings.Cut(param, "=")
		if len(list) == 0 || !ok {
			continue
		}
		value = strings.TrimSpace(value)
		if quoted, isQuoted := strings.CutPrefix(value, `"`); isQuoted {
			value, _, _ = strings.Cut(quoted, `"`)
		}
		list[len(list)-1].params[strings.ToLower(strings.TrimSpace(name))] = value
	}
	return list
}

// text returns a text of an origin's offer to pay as people and agents are shown it.
func text[S ~string](s S) string { return clip.Line(string(s[:min(len(s), maxContent)]), maxText) }
