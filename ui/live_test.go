package ui_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/readthru/readthru/internal/journal"
)

// TestAPageSaysWhatTheStreamDoes follows the line that says how a live page stands: what is left out at a flood, two
// tabs, a restart, somebody who writes meanwhile, a token that is no longer ours, and the way back in.
func TestAPageSaysWhatTheStreamDoes(t *testing.T) {
	w := newWorld(t)
	b := newBrowser(t, w.base)
	line := func(says string) string { return fmt.Sprintf(`//p[@id="link" and contains(., %q)]`, says) }
	signIn := func(path string) {
		t.Helper()
		link, err := w.server.Client("test").SigninLink(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		b.run(chromedp.Navigate(b.base + link.Path))
	}
	ask := func(from, n int) {
		for i := range n {
			w.told.Add(&journal.Entry{Method: "GET", URL: fmt.Sprintf("https://a.test/%d", from+i), Status: 200, Outcome: "hit"})
		}
	}
	signIn("/requests")
	b.see(`//p[@id="link" and .="Live"]`)

	// Fifty rows are shown; what passed besides is said, and no longer said when all that is new is shown.
	ask(0, 6000)
	b.see(line(" more than fit"))
	b.see(`//a[contains(., "a.test/5999")]`)
	if rows := value[int](b, "document.querySelectorAll('.rows tbody tr').length"); rows != 50 {
		t.Errorf("%d rows", rows)
	}
	ask(6000, 1)
	b.see(`//a[contains(., "a.test/6000")]`)
	b.see(`//p[@id="link" and .="Live"]`)

	// A second tab of the same browser gets the same.
	ctx, closeTab := chromedp.NewContext(b.ctx)
	defer closeTab()
	second := &browser{ctx: ctx, t: t, base: b.base}
	second.run(chromedp.Navigate(b.base + "/requests"))
	second.see(`//p[@id="link" and .="Live"]`)
	ask(7000, 1)
	second.see(`//a[contains(., "a.test/7000")]`)

	// After a restart the page is loaded again, unless somebody writes in it.
	w.restart("two", "token")
	second.see(line("Live, readthru was restarted"))
	b.see(line("Live, readthru was restarted"))
	value[string](b, "document.body.dataset.loaded = 'before the next restart'")
	second.run(chromedp.Focus("#q"))
	w.restart("three", "token")
	second.see(line("readthru was restarted: load this page again"))
	if id := value[string](second, "document.activeElement.id"); id != "q" {
		t.Errorf("the focus is on %q", id)
	}
	closeTab()
	b.see(`//body[not(@data-loaded)]//p[@id="link" and contains(., "Live")]`) // it has been loaded again, too

	// Another token: nobody is signed in, which stands until somebody signs in.
	w.restart("four", "another")
	b.see(line("Signed out: sign in"))
	value[bool](b, "document.dispatchEvent(new Event('visibilitychange'))")
	b.press(`//p[@id="link"]/a`)
	b.see(`//h1[.="Sign in"]`)
	b.run(chromedp.SendKeys("#token", "another"), chromedp.Click(`button`))
	b.see(`//p[@id="link" and .="Live"]`)
	if at := value[string](b, "location.pathname"); at != "/requests" {
		t.Errorf("signed in, it is at %s", at)
	}
}
