package page_test

import (
	"net/url"
	"strings"
	"testing"

	"readthru/page"
)

const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"

func TestSecretsInURLs(t *testing.T) {
	for _, tt := range []struct{ url, masked string }{
		{"https://me:pw@a.test/x", "https://***@a.test/x"},
		{"https://me@a.test/x", "https://***@a.test/x"},
		{"https://a.test/?token=abc&q=1", "https://a.test/?token=***&q=1"},
		{"https://a.test/?q=1&api_key=abc", "https://a.test/?q=1&api_key=***"},
		{"https://a.test/?apiKey=abc", "https://a.test/?apiKey=***"},
		{"https://a.test/?X-Amz-Signature=abc&X-Amz-Date=1", "https://a.test/?X-Amz-Signature=***&X-Amz-Date=***"},
		{"https://a.test/?access_token=abc", "https://a.test/?access_token=***"},
		{"https://a.test/?a%63cess_token=abc", "https://a.test/?a%63cess_token=***"},
		{"https://a.test/?x=" + jwt, "https://a.test/?x=***"},
		{"https://a.test/?x=ghp_abcdefghijklmnop", "https://a.test/?x=***"},
		{"https://a.test/?" + jwt, "https://a.test/?***"},
		{"https://a.test/#access_token=abc&state=1", "https://a.test/#***"},
		{"https://a.test/?q=1;token=abc;r=2", "https://a.test/?q=1;token=***;r=2"},
		{"https://a.test/?q=1;r=2&token=abc", "https://a.test/?q=1;r=2&token=***"},
		{"https://a.test/?user[password]=abc", "https://a.test/?user[password]=***"},
		{"https://a.test/?code=abc", "https://a.test/?code=***"},
	} {
		u := mustParse(t, tt.url)
		if !page.HasSecret(u) {
			t.Errorf("HasSecret(%s) = false", tt.url)
		}
		if got := page.Mask(u); got != tt.masked {
			t.Errorf("Mask(%s) = %s, want %s", tt.url, got, tt.masked)
		}
		if got := page.MaskString(tt.url); got != tt.masked {
			t.Errorf("MaskString(%s) = %s, want %s", tt.url, got, tt.masked)
		}
	}
}

func TestOrdinaryURLsHaveNoSecret(t *testing.T) {
	for _, raw := range []string{
		"https://a.test/", "https://a.test/?q=token", "https://a.test/?keyword=go&monkey=1", "https://a.test/?token=",
		"https://a.test/?zip_code=1",
		"https://a.test/?country-code=de", "https://a.test/?page=2&sort=key", "https://a.test/token/x",
		"https://a.test/#section-key", "https://a.test/?q=a;b;c",
		"https://a.test/?design=1&author=x&passage=3",
	} {
		u := mustParse(t, raw)
		if page.HasSecret(u) {
			t.Errorf("HasSecret(%s) = true", raw)
		}
		if got := page.Mask(u); got != raw {
			t.Errorf("Mask(%s) = %s", raw, got)
		}
	}
}

func TestMaskStringHidesSecretsOfWhatDoesNotParse(t *testing.T) {
	for _, raw := range []string{
		"https://me:s3cret@a.test:port/x", "https://a.test/%zz?token=s3cret",
		"://me:s3cret@x?y=s3cret", "https://a.test/%zz#token=s3cret",
	} {
		if got := page.MaskString(raw); strings.Contains(got, "s3cret") {
			t.Errorf("MaskString(%s) = %s", raw, got)
		}
	}
}

func TestMaskingLeavesItsURLAlone(t *testing.T) {
	u := mustParse(t, "https://me:pw@a.test/?token=abc#token=x")
	before := u.String()
	page.Mask(u)
	if u.String() != before {
		t.Errorf("Mask changed its URL to %s", u)
	}
}

func FuzzMaskedURLsHaveNoSecretLeft(f *testing.F) {
	for _, s := range []string{"token", "a&b", "x;y", "%2", "=", "a=b#c", jwt} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		u := &url.URL{
			Scheme: "https", Host: "a.test", Path: "/",
			RawQuery: "token=s3cretvalue;" + name + "&" + value + "&api_key=s3cretvalue",
			User:     url.UserPassword("me", "s3cretvalue"),
		}
		if got := page.Mask(u); strings.Contains(got, "s3cretvalue") {
			t.Errorf("Mask = %s", got)
		}
	})
}
