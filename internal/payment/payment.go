// Package payment reads what an origin asks for a page that it does not give for nothing, so that whoever asked for the
// page learns the price. Nothing here pays.
//
// There are four ways to ask, all with status 402 (RFC 9110 §15.5.3 reserves it and says no more):
//
//   - the field PAYMENT-REQUIRED, base64 of a JSON object (x402, version 2, of 2025);
//   - the same object as the content (x402, version 1);
//   - the field crawler-price: USD 0.01 (Cloudflare's pay per crawl, 2025);
//   - a challenge with the scheme L402, or LSAT as it was called, for an invoice of the Lightning network.
//
// Every text is the origin's: it is bounded, and on one line without characters that show nothing.
package payment

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/readthru/readthru/internal/clip"
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
	if field := h.Get("Payment-Required"); field != "" && len(field) <= maxContent {
		if object, err := base64.StdEncoding.DecodeString(field); err == nil {
			list = append(list, x402(object)...)
		}
	} else if len(content) <= maxContent {
		list = append(list, x402(content)...)
	}
	for _, challenge := range h.Values("Www-Authenticate") {
		scheme, rest, _ := strings.Cut(challenge, " ")
		if strings.EqualFold(scheme, "L402") || strings.EqualFold(scheme, "LSAT") {
			list = append(list, page.Payment{By: "L402", Network: "lightning", To: text(parameter(rest, "invoice"))})
		}
	}
	return list[:min(len(list), maxOffers)]
}

// x402 reads the object of x402: both versions, which name the amount in two ways.
func x402(object []byte) (list []page.Payment) {
	var demand struct {
		X402Version int `json:"x402Version"`
		Accepts     []struct {
			Scheme, Network, Asset, PayTo string
			Amount                        string
			MaxAmountRequired             string
			Extra                         struct{ Name string }
		}
	}
	if json.Unmarshal(object, &demand) != nil || demand.X402Version == 0 {
		return nil
	}
	for _, offer := range demand.Accepts[:min(len(demand.Accepts), maxOffers)] {
		p := page.Payment{
			By: strings.TrimSpace("x402 " + text(offer.Scheme)), Amount: text(offer.Amount), Currency: text(offer.Extra.Name),
			Asset: text(offer.Asset), Network: text(offer.Network), To: text(offer.PayTo),
		}
		if p.Amount == "" {
			p.Amount = text(offer.MaxAmountRequired)
		}
		list = append(list, p)
	}
	return list
}

// parameter returns the value of a quoted parameter of a challenge (RFC 9110 §11.2).
func parameter(challenge, name string) string {
	_, rest, _ := strings.Cut(challenge, name+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// text returns a text of an origin's as people and agents are shown it.
func text(s string) string { return clip.Line(s[:min(len(s), maxContent)], maxText) }
