package render_test

import (
	"testing"

	"readthru/fault"
)

// A page whose work panics is given up at once, with the cause, and not when its time is over. The next one is read.
func TestAPanicInTheWorkOfAPageEndsThePage(t *testing.T) {
	s := newSite(t)
	b := s.browser(t)
	s.add("/", `<main>A text</main>`)
	rendered(t, b, s.page(t, "/"))
	defer fault.Inject(nil)
	for _, work := range []string{"render: take events", "render: take requests", "render: answer a request"} {
		fault.Inject(func(begun string) {
			if begun == work {
				panic("injected")
			}
		})
		if p, err := b.Render(t.Context(), s.page(t, "/")); !fault.Is(err) {
			t.Errorf("%s panics: %+v, %v, want the fault", work, p, err)
		}
		fault.Inject(nil)
		rendered(t, b, s.page(t, "/"))
	}
}
