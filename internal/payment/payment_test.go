package payment_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/payment"
)

const v2 = `{"x402Version":2,"error":"PAYMENT-SIGNATURE header is required","resource":{"url":"https://a.test/"},
"accepts":[{"scheme":"exact","network":"eip155:84532","amount":"10000","asset":"0x036C","payTo":"0x2096",
"maxTimeoutSeconds":60,"extra":{"name":"USDC","version":"2"}}]}`

const v1 = `{"x402Version":1,"error":"X-PAYMENT header is required","accepts":[{"scheme":"exact","network":"avalanche-fuji",
"maxAmountRequired":"500","asset":"0x5425","payTo":"0x742d"},{"scheme":"upto","network":"base","maxAmountRequired":"7"}]}`

// Payment is asked for in the ways that specifications name: x402's transports v1 and v2, Cloudflare's documentation of
// pay per crawl, L402.
func TestDemandsAreRead(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte(v2))
	for _, tt := range []struct {
		name    string
		status  int
		header  http.Header
		content string
		want    []string
	}{
		{
			"pay per crawl", 402,
			http.Header{"Crawler-Price": {"USD 0.01"}},
			"<h1>Payment required</h1>",
			[]string{"USD 0.01, by pay per crawl"},
		},
		{
			"x402 in a field", 402,
			http.Header{"Payment-Required": {encoded}},
			"{}",
			[]string{"10000 units of 0x036C (USDC) on eip155:84532 to 0x2096, by x402 exact"},
		},
		{
			"x402 in the content", 402, nil, v1,
			[]string{"500 units of 0x5425 on avalanche-fuji to 0x742d, by x402 exact", "7 on base, by x402 upto"},
		},
		{
			"both at once", 402,
			http.Header{"Crawler-Price": {"USD 1"}, "Payment-Required": {encoded}},
			v1,
			[]string{"USD 1, by pay per crawl", "10000 units of 0x036C (USDC) on eip155:84532 to 0x2096, by x402 exact"},
		},
		{
			"an invoice", 402,
			http.Header{"Www-Authenticate": {`Basic realm="x"`, `L402 macaroon="AGI", invoice="lnbc1"`}},
			"",
			[]string{"an amount that it does not say on lightning to lnbc1, by L402"},
		},
		{"another status", 200, http.Header{"Crawler-Price": {"USD 0.01"}}, v1, nil},
		{"no demand that is known", 402, nil, "<p>Pay at the desk", nil},
		{"JSON of something else", 402, nil, `{"accepts":[{"amount":"1"}]}`, nil},
		{"damaged base64", 402, http.Header{"Payment-Required": {"@@"}}, "", nil},
		{"damaged JSON", 402, nil, v1[:40], nil},
		{
			"amounts that are numbers, however large", 402, nil,
			`{"x402Version":1,"accepts":[{"amount":7},{"amount":1e400},` +
				`{"amount":` + strings.Repeat("9", 200) + `,"extra":["x"],"asset":"0x1"}]}`,
			[]string{"7, by x402", "1e400, by x402", strings.Repeat("9", 119) + "… units of 0x1, by x402"},
		},
		{
			"members of another type hide no others", 402, nil,
			`{"x402Version":"2","accepts":["x",7,{"amount":{"value":1},"network":null,"payTo":[1],"asset":"0x1"}]}`,
			[]string{"an amount that it does not say, by x402"},
		},
		{
			"base64url without padding", 402,
			http.Header{"Payment-Required": {base64.RawURLEncoding.EncodeToString([]byte(v2))}},
			"",
			[]string{"10000 units of 0x036C (USDC) on eip155:84532 to 0x2096, by x402 exact"},
		},
		{
			"a damaged field beside readable content", 402,
			http.Header{"Payment-Required": {"@@"}},
			v1,
			[]string{"500 units of 0x5425 on avalanche-fuji to 0x742d, by x402 exact", "7 on base, by x402 upto"},
		},
		{
			"the scheme Payment, the example of its draft", 402,
			http.Header{"Www-Authenticate": {`Payment id="nR5t", realm="api.example.com", method="example",` +
				` intent="charge", request="eyJhbW91bnQiOiIxMDAwIiwiY3VycmVuY3kiOiJ1c2QifQ"`}},
			"",
			[]string{"1000 units of usd on example, by Payment charge"},
		},
		{
			"several challenges in one line", 402,
			http.Header{"Www-Authenticate": {`Basic realm="a, L402 x", Payment id=x,method="tempo" , intent=session,` +
				`request="e30", Negotiate, L402 macaroon="A=", invoice="lnbc2"`}},
			"",
			[]string{
				"an amount that it does not say on tempo, by Payment session",
				"an amount that it does not say on lightning to lnbc2, by L402",
			},
		},
		{
			"control characters and length", 402,
			http.Header{"Crawler-Price": {"USD\x1b[31m \u202e" + strings.Repeat("9", 500)}},
			"",
			[]string{"USD[31m " + strings.Repeat("9", 111) + "…, by pay per crawl"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range payment.Of(tt.status, tt.header, []byte(tt.content)) {
				got = append(got, p.String())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A hostile demand has a bounded number of offers.
func TestAHostileDemandIsBounded(t *testing.T) {
	many := `{"x402Version":1,"accepts":[` + strings.Repeat(`{"amount":"1"},`, 1000) + `{}]}`
	if n := len(payment.Of(402, nil, []byte(many))); n != 5 {
		t.Errorf("%d offers, want 5", n)
	}
	if n := len(payment.Of(402, nil, []byte(many+strings.Repeat(" ", 64<<10)))); n != 0 {
		t.Errorf("%d offers of an object that is too long, want none", n)
	}
}
