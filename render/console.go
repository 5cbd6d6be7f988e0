package render

import (
	"strings"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"

	"github.com/readthru/readthru/internal/clip"
)

// Bounds of what is kept of a page's console: lines, and code points of each.
const maxConsole, maxConsoleChars = 100, 1000

// listenToConsole keeps the errors that the page logs and the exceptions that it does not catch, for Request.Console.
func (t *tab) listenToConsole() {
	on(t, log.EntryAdded, func(ev log.EventEntryAdded) {
		if ev.Entry != nil && ev.Entry.Level == log.EntryLevelError {
			t.logLine(ev.Entry.Text)
		}
	})
	on(t, runtime.ExceptionThrown, func(ev runtime.EventExceptionThrown) {
		d := ev.ExceptionDetails
		if d == nil {
			return
		}
		text := d.Text
		if d.Exception != nil && d.Exception.Description != "" {
			text += " " + d.Exception.Description
		}
		t.logLine(text)
	})
	on(t, runtime.ConsoleAPICalled, func(ev runtime.EventConsoleAPICalled) {
		// Only console.error; what a page logs otherwise is for its authors.
		if ev.Type != runtime.ConsoleAPICalledTypeError {
			return
		}
		var words []string
		for _, a := range ev.Args {
			if a.Description != "" {
				words = append(words, a.Description)
			} else {
				words = append(words, strings.Trim(string(a.Value), `"`))
			}
		}
		t.logLine(strings.Join(words, " "))
	})
}

// logLine keeps a line of the page's console, shortened, unless there are maxConsole already: the first errors explain
// the others.
func (t *tab) logLine(text string) {
	text = clip.Ellipsis(text, maxConsoleChars)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.console) < maxConsole {
		t.console = append(t.console, text)
	}
}
