package page

import "strings"

// A Payment is one way to pay that an origin offers for a page, as it says it. readthru pays nothing.
type Payment struct {
	By       string `json:"by"`                 // the convention: "pay per crawl", "x402 exact", "Payment charge", "L402"
	Amount   string `json:"amount,omitempty"`   // of an asset: in its smallest unit
	Currency string `json:"currency,omitempty"` // USD; of x402: the name of the asset
	Asset    string `json:"asset,omitempty"`    // address of the asset, or code of the currency
	Network  string `json:"network,omitempty"`  // eip155:8453, or the method: tempo, stripe
	To       string `json:"to,omitempty"`       // who is paid: an address, or an invoice
}

// String returns the offer in words.
func (p Payment) String() string {
	var b strings.Builder
	switch {
	case p.Amount == "":
		b.WriteString("an amount that it does not say")
	case p.Asset != "":
		b.WriteString(p.Amount + " units of " + p.Asset)
		if p.Currency != "" {
			b.WriteString(" (" + p.Currency + ")")
		}
	default:
		b.WriteString(strings.TrimSpace(p.Currency + " " + p.Amount))
	}
	if p.Network != "" {
		b.WriteString(" on " + p.Network)
	}
	if p.To != "" {
		b.WriteString(" to " + p.To)
	}
	return b.String() + ", by " + p.By
}
