package gate

import (
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/processor"
)

// intended is what the gate judges.
type intended struct {
	Mode, URL                                                   string
	Blocked                                                     []string
	Status                                                      int
	Have, NoRemote, Credentials, Private, NoTransform, OverWall bool
	Content                                                     string
}

// refusalOf asks the gate.
func refusalOf(d intended) string {
	u, err := url.Parse(d.URL)
	if err != nil {
		panic(err)
	}
	wall := ""
	if d.OverWall {
		wall = "mark"
	}
	return Disclosure{
		d.Mode, u, d.Blocked, d.Status, d.Have, d.NoRemote, d.Credentials, d.Private, d.NoTransform, wall,
		[]byte(d.Content), false,
	}.Refusal()
}

func TestNothingPrivateIsSentToThirdParties(t *testing.T) {
	ok := intended{
		Mode: "fallback", URL: "https://example.com/a?b=c", Status: 200, Have: true,
		Content: "<p>thin",
	}
	with := func(change func(*intended)) intended {
		d := ok
		change(&d)
		return d
	}
	at := func(raw string) intended { return with(func(d *intended) { d.URL = raw }) }
	for _, tt := range []struct {
		name string
		d    intended
		sent bool
	}{
		{"a public page", ok, true},
		{"mode off", with(func(d *intended) { d.Mode = "off" }), false},
		{"mode not known", with(func(d *intended) { d.Mode = "always" }), false},
		{"caller forbids it", with(func(d *intended) { d.NoRemote = true }), false},
		{"request with credentials", with(func(d *intended) { d.Credentials = true }), false},
		{"private or no-store", with(func(d *intended) { d.Private = true }), false},
		{"no-transform", with(func(d *intended) { d.NoTransform = true }), false},
		{"blocked domain", with(func(d *intended) { d.Blocked = []string{"example.com"} }), false},
		{"bot wall", with(func(d *intended) { d.OverWall = true }), false},
		{"user info", at("https://user:pw@example.com/"), false},
		{"loopback", at("http://127.0.0.1/"), false},
		{"private address", at("http://10.0.0.1/"), false},
		{"link-local address", at("http://169.254.169.254/"), false},
		{"mapped private address", at("http://[::ffff:10.0.0.1]/"), false},
		{"single label", at("http://intranet/"), false},
		{"localhost", at("http://localhost:8080/"), false},
		{".local", at("http://printer.local/"), false},
		{".internal", at("https://wiki.corp.internal/"), false},
		{".internal with a trailing dot", at("https://wiki.internal./"), false},
		{"token in the query", at("https://example.com/?token=abc"), false},
		{"signature", at("https://example.com/?sig=abc"), false},
		{"Amazon signature", at("https://example.com/?X-Amz-Signature=abc"), false},
		{"code", at("https://example.com/?code=abc"), false},
		{"JWT in any parameter", at("https://example.com/?x=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc"), false},
		{"token of a URL in a value", at("https://example.com/?u=https%3A%2F%2Fb.test%2F%3Ftoken%3Dabc"), false},
		{"… encoded twice", at("https://example.com/?u=https%253A%252F%252Fb.test%252F%253Ftoken%253Dabc"), false},
		{"password in JSON", at("https://example.com/?d=%7B%22password%22%3A%22abc%22%7D"), false},
		{"reset of Firebase", at("https://example.com/?oobCode=abc"), false},
		{"password in JSON in base64", at("https://example.com/?d=eyJwYXNzd29yZCI6ImFiYyJ9"), false},
		{"token of a URL in base64", at("https://example.com/?u=aHR0cHM6Ly9iLnRlc3QvP3Rva2VuPWFiYw"), false},
		{"token in the fragment of a path", at("https://example.com/?next=%2Fa%23token%3Dabc"), false},
		{"key in the fragment", at("https://example.com/file/8kVmSKLZ#C5Q52ryFlwRlOEVHzc0X0A"), false},
		{"invitation to a meeting", at("https://meet.google.com/abc-defg-hij"), false},
		{"calendar", at("https://example.com/icalendar/22ca78e2ee9bf6d2d3b4d67777a0c891.ics"), false},
		{"state of OAuth", at("https://example.com/?state=Xq7Lw2Zp9Rk4Vt6Y"), false},
		{"a UUID", at("https://example.com/docs/3f2504e0-4f89-41d3-9a0c-0305e82c3301/intro"), false},
		{"a random parameter", at("https://example.com/x?id=Xq7Lw2Zp9Rk4Vt6Ym1Nc8Bd3"), false},
		{"refused 403", with(func(d *intended) { d.Status = 403 }), true},
		{"refused 406", with(func(d *intended) { d.Status = 406 }), true},
		{"refused 429", with(func(d *intended) { d.Status = 429 }), true},
		{"refused 500", with(func(d *intended) { d.Status = 500 }), true},
		{"401", with(func(d *intended) { d.Status = 401 }), false},
		{"402", with(func(d *intended) { d.Status = 402 }), false},
		{"404", with(func(d *intended) { d.Status = 404 }), false},
		{"407", with(func(d *intended) { d.Status = 407 }), false},
		{"511, a captive portal", with(func(d *intended) { d.Status = 511 }), false},
		{"login form", with(func(d *intended) { d.Content = `<INPUT id=x TYPE = "password">` }), false},
		{"paywall", with(func(d *intended) { d.Content = `{"isAccessibleForFree": "False"}` }), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if why := refusalOf(tt.d); (why == "") != tt.sent {
				t.Errorf("refusal %q, want sent %v", why, tt.sent)
			}
		})
	}
}

// No third party learns of a link that a product gives to one reader: none of the forms that package page masks.
func TestNoThirdPartyLearnsOfTheLinksOfProducts(t *testing.T) {
	text, err := os.ReadFile("../../page/testdata/secret-urls.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		raw := strings.NewReplacer("«", "", "»", "").Replace(fields[1])
		sent := intended{Mode: "fallback", URL: raw, Status: 200, Have: true, Content: "<p>thin"}
		if refusalOf(sent) == "" {
			t.Errorf("%s: %s is sent", fields[0], raw)
		}
	}
}

func TestTheGateTakesTimeInProportionToThePage(t *testing.T) {
	used := processor.Of(func() {
		refusalOf(intended{
			Mode: "fallback", URL: "https://site.test/", Status: 200,
			Content: strings.Repeat("<input ", 400<<10),
		})
	})
	if limit := 2 * time.Second; used > limit {
		t.Errorf("it took %s of processor time, want %s at most", used, limit)
	}
}
