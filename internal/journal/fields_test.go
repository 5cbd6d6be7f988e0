package journal_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/journal"
)

func TestFieldsAreWrittenAsJSONAsTheLibraryWouldWriteThem(t *testing.T) {
	for _, f := range []journal.Fields{
		"",
		"Accept: */*\n",
		"Vary: b\nAccept: */*\nVary: a\nVary: \n",
		"Odd: \"quoted\" \\ <b>&\nOther: ünicode \u2028 \x01 \x7f \xff\n",
		"no colon\n: no name\n",
	} {
		m := map[string][]string{}
		for _, field := range f.List() {
			m[field.Name] = append(m[field.Name], field.Value)
		}
		want, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(f)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q: got %s, %v, want %s", f, got, err, want)
		}
	}
}

// A secret in a field is masked: in an address, wherever in it the secret stands, and what a client alone is given.
func TestSecretsOfFieldsAreMasked(t *testing.T) {
	const secret = "k7Qx2mZp9Rt4Vw6Y"
	for _, where := range []string{
		"/reset/" + secret, "/login;jsessionid=" + secret, "https://a.test/cb#access_token=" + secret,
		"/login?next=%2Freset%2F" + secret, "https://ann:" + secret + "@a.test/", "https://a.test:x/reset/" + secret,
	} {
		for name, value := range map[string]string{
			"Location": where, "Content-Location": where, "Refresh": "0; URL=" + where, "X-Original-Url": where,
			"Link": "<" + where + ">; rel=next",
		} {
			if got := journal.ResponseFields(http.Header{name: {value}}); strings.Contains(string(got), secret) {
				t.Errorf("%s: %s is told as %s", name, value, got)
			}
		}
		if got := journal.RequestFields(http.Header{"Referer": {where}}); strings.Contains(string(got), secret) {
			t.Errorf("Referer: %s is told as %s", where, got)
		}
	}
	for _, field := range []string{
		"Set-Cookie: sid=" + secret, "X-Subject-Token: " + secret, "X-Csrf-Token: " + secret, "Authorization: " + secret,
		"X-Whatever: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + secret,
	} {
		name, value, _ := strings.Cut(field, ": ")
		if got := journal.ResponseFields(http.Header{name: {value}}); strings.Contains(string(got), secret) {
			t.Errorf("%s is told as %s", field, got)
		}
	}
	for name, value := range map[string]string{
		"Location": "/docs/intro", "Refresh": "5", "Link": `</style.css>; rel=preload; as=style`, "Etag": `"` + secret + `"`,
		"Access-Control-Allow-Credentials": "true", "X-Ratelimit-Remaining-Tokens": "7", "Surrogate-Key": "a b",
	} {
		if got := journal.ResponseFields(http.Header{name: {value}}); string(got) != name+": "+value+"\n" {
			t.Errorf("%s: %s is told as %s", name, value, got)
		}
	}
}
