package css_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
)

func TestFinderMatchesSelectors(t *testing.T) {
	root, _, err := dom.Parse(t.Context(), []byte(`<div id=a class="x y"><p data-n=1>one<p class=x><b>two</b></div><i lang=de>`))
	if err != nil {
		t.Fatal(err)
	}
	for list, want := range map[string]string{
		"p": "p p", "#a": "div", "div > p.x": "p", "[data-n]": "p", "p:has(b)": "p", "b, i": "b i", "p + p": "p",
		"div p:nth-child(2)": "p", ":is(b, i)": "b i", ".X": "", "p:not(.x)": "p", "[lang|=de]": "i",
	} {
		s, err := css.ParseSelectors(list)
		if err != nil {
			t.Errorf("ParseSelectors(%q): %v", list, err)
			continue
		}
		f := css.NewFinder(1000)
		var got []string
		for n := range root.Descendants() {
			if n.Type == html.ElementNode && f.Matches(s, n) {
				got = append(got, n.Data)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q matches %q, want %q", list, got, want)
		}
	}
}

func TestSelectorsThatSayNothingAreRefused(t *testing.T) {
	for list, want := range map[string]error{
		"": css.ErrSelector, "p,": css.ErrSelector, "p >": css.ErrSelector, "p:nope": css.ErrSelector, "p..x": css.ErrSelector,
		"p::before": css.ErrNever, "a:hover": css.ErrNever, "*": css.ErrUniversal, "div *": css.ErrUniversal,
		":not(p)": css.ErrUniversal, ":first-child": css.ErrUniversal, ":is(*)": css.ErrUniversal, ":is(p, *)": css.ErrUniversal,
		":has(p)":                  css.ErrUniversal,
		strings.Repeat("p ", 2000): css.ErrLong,
	} {
		if _, err := css.ParseSelectors(list); !errors.Is(err, want) {
			t.Errorf("ParseSelectors(%.20q) = %v, want %v", list, err, want)
		}
	}
}

func TestFinderStopsWhenItsComparisonsAreMade(t *testing.T) {
	root, _, err := dom.Parse(t.Context(), []byte(strings.Repeat("<div>", 200)+strings.Repeat("<i></i>", 500)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := css.ParseSelectors("x div div div div i")
	if err != nil {
		t.Fatal(err)
	}
	f := css.NewFinder(10000)
	for n := range root.Descendants() {
		if f.Matches(s, n) {
			t.Fatal("a selector matches an element without its ancestor")
		}
	}
	if !f.Spent() {
		t.Error("a costly selector spent nothing")
	}
}
