package ui_test

import (
	"html/template"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// onboarding is the page of readthru.local, which package proxy serves in the style of this package.
const onboarding = "../proxy/onboarding.html"

func TestTheOnboardingPageHasTheColoursOfTheDashboard(t *testing.T) {
	ours, err := os.ReadFile("assets/style.css")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile(onboarding)
	if err != nil {
		t.Fatal(err)
	}
	colour := regexp.MustCompile(`--[a-z-]+: #[0-9a-f]+;`)
	list := colour.FindAllString(string(theirs), -1)
	if len(list) < 12 {
		t.Errorf("it defines %d colours", len(list))
	}
	for _, c := range list {
		if !strings.Contains(string(ours), c) {
			t.Errorf("the dashboard has no %s", c)
		}
	}
}

func TestTheOnboardingPageInABrowser(t *testing.T) {
	page, err := template.ParseFiles(onboarding)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			return // a browser asks for an icon
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := page.Execute(w, map[string]any{
			"Proxy": "127.0.0.1:7887", "Admin": "http://127.0.0.1:7888/", "Secure": true,
		}); err != nil {
			t.Error(err)
		}
	}))
	defer s.Close()
	b := newBrowser(t, s.URL)
	script := axe(t)
	b.run(chromedp.Navigate(s.URL))
	b.see("//main")
	if script != "" {
		b.accessible("the onboarding page", script)
	}
	b.run(chromedp.EmulateViewport(360, 740))
	if value[bool](b, tooWide) {
		t.Errorf("wider than a phone: %s", value[string](b, widest))
	}
	b.check("/")
}
