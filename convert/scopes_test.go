package convert_test

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

// scopes are pages whose rules hold for a part of them: words with KEEP are painted by Chromium, those with HIDE are
// not.
var scopes = []struct{ name, body string }{
	{
		"a rule of a shadow root is not about the document",
		`<div><template shadowrootmode=open><style>p{display:none}</style><p>HIDE1</p></template></div><p>KEEP1</p>`,
	},
	{
		"a rule of the document is not about a shadow root",
		`<style>.x{display:none}</style><div><template shadowrootmode=open><p class=x>KEEP1</p></template></div>
			<p class=x>HIDE1</p>`,
	},
	{
		":host", `<x-a><template shadowrootmode=open><style>:host{display:none}</style><p>HIDE1</p></template>
			</x-a><p>KEEP1</p>`,
	},
	{
		":host with a selector", `<x-a class=c><template shadowrootmode=open><style>:host(.c){display:none}
			</style><p>HIDE1</p></template></x-a>
			<x-a class=d><template shadowrootmode=open><style>:host(.c){display:none}</style><p>KEEP1</p></template>
			</x-a>`,
	},
	{
		":host before others", `<x-a class=c><template shadowrootmode=open>
			<style>:host(.c) > p, :host .i{display:none}</style>
			<p>HIDE1</p><div><i class=i>HIDE2</i><p>KEEP1</p></div></template></x-a>`,
	},
	{
		":host-context", `<div class=night><x-a><template shadowrootmode=open>
			<style>:host-context(.night) p{display:none}</style>
			<p>HIDE1</p></template></x-a></div><x-a><template shadowrootmode=open>
			<style>:host-context(.night) p{display:none}</style><p>KEEP1</p></template></x-a>`,
	},
	{
		"the document wins over :host", `<style>x-a{display:block}</style><x-a><template shadowrootmode=open>
			<style>:host{display:none}</style><p>KEEP1</p></template></x-a>`,
	},
	{
		"an important :host wins over the document", `<style>x-a{display:block!important}</style>
			<x-a><template shadowrootmode=open><style>:host{display:none!important}</style><p>HIDE1</p></template>
			</x-a><p>KEEP1</p>`,
	},
	{
		"::slotted", `<x-a><template shadowrootmode=open><style>::slotted(.c){display:none}</style><p>KEEP1</p>
			<slot></slot></template>
			<b class=c>HIDE1</b><b>KEEP2</b></x-a><b class=c>KEEP3</b>`,
	},
	{
		"::slotted of a named slot", `<x-a><template shadowrootmode=open>
			<style>slot[name=s]::slotted(*){display:none}</style>
			<slot></slot><slot name=s></slot></template><b>KEEP1</b><b slot=s>HIDE1</b></x-a>`,
	},
	{
		"::slotted below an element", `<x-a><template shadowrootmode=open><style>.c ::slotted(b){display:none}</style>
			<slot></slot><div class=c><slot name=s></slot></div></template><b>KEEP1</b><b slot=s>HIDE1</b></x-a>`,
	},
	{
		"the document rules what fills a slot", `<style>x-a > b.c{display:none}</style><x-a>
			<template shadowrootmode=open><div><slot></slot></div></template>
			<b class=c>HIDE1</b><b>KEEP1</b></x-a>`,
	},
	{
		"the document wins over ::slotted", `<style>b.c{display:inline}</style><x-a>
			<template shadowrootmode=open><style>::slotted(b){display:none}</style><slot></slot></template>
			<b class=c>KEEP1</b><b>HIDE1</b></x-a>`,
	},
	{
		"::part", `<style>x-a::part(c){display:none}</style><x-a><template shadowrootmode=open>
			<p part="b c">HIDE1</p><p part=b>KEEP1</p></template></x-a>
			<p part=c>KEEP2</p>`,
	},
	{
		"a root in a root", `<x-a><template shadowrootmode=open><style>.c{display:none}</style><p class=c>HIDE1</p>
			<x-b><template shadowrootmode=open><p class=c>KEEP1</p><style>.d{display:none}</style><p class=d>HIDE2
			</p></template></x-b>
			<p class=d>KEEP2</p></template></x-a>`,
	},
	{
		"siblings are of one tree", `<x-a><template shadowrootmode=open><style>h4 + p{display:none}</style>
			<h4>KEEP1</h4><p>HIDE1</p><slot></slot><p>KEEP2</p></template>
			<h4>KEEP3</h4></x-a>`,
	},
	{
		"a second root is none", `<div><template shadowrootmode=open><p>KEEP1</p></template>
			<template shadowrootmode=open><style>p{display:none}</style></template></div>
			<p>KEEP2</p>`,
	},
	{
		"@scope", `<style>@scope (.c){p{display:none}}</style><div class=c><p>HIDE1</p></div><p>KEEP1</p>`,
	},
	{
		"@scope with a limit", `<style>@scope (.c) to (.d){p{display:none}}</style><div class=c><p>HIDE1</p>
			<div class=d><p>KEEP1</p></div></div><p>KEEP2</p>`,
	},
	{
		"the limit itself is out of scope", `<style>@scope (.c) to (p.d){p{display:none}}</style><div class=c>
			<p>HIDE1</p><p class=d>KEEP1</p></div>`,
	},
	{
		"@scope of the element round the sheet", `<div><style>@scope{p{display:none}}</style><p>HIDE1</p></div>
			<p>KEEP1</p>`,
	},
	{
		":scope", `<style>@scope (.c){:scope > p{display:none} & > i{display:none}}</style><div class=c><p>HIDE1
			</p><i>HIDE2</i><div><p>KEEP1</p></div></div>`,
	},
	{
		"@scope that browsers refuse", `<style>@scope .c{p{display:none}}</style><div class=c><p>KEEP1</p></div>`,
	},
}

func TestRulesHoldInTheirScopes(t *testing.T) {
	for _, tt := range scopes {
		t.Run(tt.name, func(t *testing.T) {
			page := "<!doctype html><title>T</title><main><h1>Scopes</h1><p>Some words that all readers see.</p>" +
				tt.body + "<p>And some more words at its end.</p></main>"
			md := convertPage(t, page, convert.Options{WholePage: true}).Markdown
			for n := range 3 {
				keep, hide := "KEEP"+string(rune('1'+n)), "HIDE"+string(rune('1'+n))
				if strings.Contains(page, keep) && !strings.Contains(md, keep) {
					t.Errorf("%s is missing", keep)
				}
				if strings.Contains(md, hide) {
					t.Errorf("%s is there", hide)
				}
			}
			if t.Failed() {
				t.Log(md)
			}
		})
	}
}

// A list of times is that of several animations; the first time is the first one's.
func TestAnAnimationTakesTheFirstOfItsTimes(t *testing.T) {
	for times, shown := range map[string]bool{"500ms": false, "500ms, 1s": false, "500s": true, "500s, 1ms": true} {
		page := "<style>@keyframes a { to { opacity: 0 } } .x { animation: a forwards; animation-duration: " + times +
			" }</style><p>Kept, and long enough to be a paragraph of a page.<p class=x>Fades"
		doc, err := convert.Parse(t.Context(), []byte(page), "text/html", pageURL)
		if err != nil {
			t.Fatal(err)
		}
		res, err := doc.Convert(t.Context(), convert.Options{})
		if err != nil || strings.Contains(res.Markdown, "Fades") != shown {
			t.Errorf("%s: %v, %q", times, err, res.Markdown)
		}
	}
}
