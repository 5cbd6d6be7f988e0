package convert_test

import (
	"net/url"
	"testing"

	"github.com/readthru/readthru/convert"
)

// TestTitlesOfGenerators holds what pages are called whose generator puts the name of the book, the manual or the board
// into their first h1.
func TestTitlesOfGenerators(t *testing.T) {
	for _, tt := range []struct{ name, html, want string }{
		{
			"a book: the chapter has the title of the page",
			`<title>What is a cache? - The Cache Book</title><nav id=sidebar><a href=ch1.html>1. Basics</a></nav>
			<div id=menu-bar><h1 class=menu-title>The Cache Book</h1></div>
			<main><h1 id=what><a class=header href="#what">What is a cache?</a></h1><p>It keeps.</p></main>`,
			"What is a cache?",
		},
		{
			"a book: the chapter is called otherwise in its contents",
			`<title>Basics - The Cache Book</title><div id=menu-bar><h1 class=menu-title>The Cache Book</h1></div>
			<main><h1 id=what><a class=header href="#what">What You Must Know</a></h1><p>It keeps.</p></main>`,
			"What You Must Know",
		},
		{
			"a manual that names itself above each page",
			`<title>Quick Start &#8212; Cache 2.0 Documentation</title><div id=docs-header><h1>Cache 2.0 Documentation</h1></div>
			<div id=docs-body><section id=quick><h1>Quick Start<a class=headerlink href="#quick">¶</a></h1></section></div>`,
			"Quick Start",
		},
		{
			"a manual that shortens its name there",
			`<title>Quick Start — The Cache documentation</title><div class=sphinxsidebar><h1 class=logo>The Cache</h1></div>
			<div class=body><section id=quick><h1>Quick Start<a class=headerlink href="#quick">¶</a></h1></section></div>`,
			"Quick Start",
		},
		{
			"a manual whose pages have no h1",
			`<title>File system | Cache v2.0 Documentation</title><header><h1>Cache v2.0 Documentation</h1></header>
			<div id=apicontent><h2>File system<span><a class=mark href="#fs">#</a></span></h2></div>`,
			"File system",
		},
		{
			"a manual whose pages are called otherwise in their title",
			`<title>Assertion testing | Cache v2.0 Documentation</title><header><h1>Cache v2.0 Documentation</h1></header>
			<div id=apicontent><h2>Assert<span><a class=mark href="#assert">#</a></span></h2></div>`,
			"Assertion testing",
		},
		{
			"a manual whose menu begins with its name",
			`<title>The Cache Documentation</title><div id=navigation><h1>The Cache</h1><h2>Modules</h2></div>
			<div id=content><h1>Module <code>cache.disk</code></h1><p>It keeps.</p></div>`,
			"Module cache.disk",
		},
		{
			"a site whose menu is all that has a title",
			`<title>The Cache</title><div id=navigation><h1>The Cache</h1></div>
			<div id=content><h2>Why</h2><p>It keeps.</p></div>`,
			"The Cache",
		},
		{
			"a module with a caption, and one section",
			`<title>Data.Cache</title><div id=package-header><span class=caption>cache-1.0: Caches</span></div>
			<div id=content><div id=module-header><table class=info><tr><th>Safety<td>Safe</table><p class=caption>Data.Cache</p></div>
			<div id=interface><h1>Documentation</h1><p>data Cache</p></div></div>`,
			"Data.Cache",
		},
		{
			"a module with sections",
			`<title>Data.Cache</title><div id=content><div id=module-header><p class=caption>Data.Cache</p></div>
			<div id=interface><h1>Basic functions</h1><p>get</p><h1>Folds</h1><p>fold</p></div></div>`,
			"Data.Cache",
		},
		{
			"a module with a section of its name",
			`<title>Data.Cache.Disk</title><p class=caption>Data.Cache.Disk</p><h1>Disk</h1><p>get</p><h1>Folds</h1>`,
			"Data.Cache.Disk",
		},
		{
			"a manual's name after a colon",
			`<title>Base64 Encoding: Cache Reference Manual</title><div class=refnamediv><h2>Base64 Encoding</h2><p>encode</p></div>`,
			"Base64 Encoding",
		},
		{
			"a board that names itself",
			`<title>How long is fresh? / Questions / Cache Forums</title><div id=head><h1>Cache</h1></div>
			<h2><span>#1</span></h2><p>Which is sound?</p>`,
			"How long is fresh?",
		},
		{
			"a site's name above all pages",
			`<title>Questions</title><h1>The C library for caches</h1><h2>Questions</h2><p>Which is sound?</p><h2>Menu</h2>`,
			"Questions",
		},
		{
			"a manual page whose sections are h1", `<title>cachectl - controls a cache</title><h1>NAME</h1><p>cachectl</p>
			<h1>SYNOPSIS</h1><p>cachectl FILE</p>`, "cachectl - controls a cache",
		},
		{
			"a numbered first section below a box with the title",
			`<title>The Cache Format</title><div class=top>The Cache Format</div><h1>1. Introduction</h1><p>It keeps.</p>`,
			"The Cache Format",
		},
		{
			"entries of a list", `<title>The Cache Blog</title><article><h1>One</h1></article><article><h1>Two</h1></article>`,
			"The Cache Blog",
		},
		{
			"a manual whose banner begins the title",
			`<title>Cache 2 (2.0.1) - Advanced IO</title><header><h1>Cache 2</h1></header><nav><h2>Links</h2></nav>
			<h2>Advanced IO</h2><h3>Introduction</h3><p>It reads.</p>`,
			"Advanced IO",
		},
		{
			"a page of source code",
			`<title>cache.disk — Cache 2.0 Documentation</title><div id=docs-header><h1>Cache 2.0 Documentation</h1></div>
			<div class=body><h1>Source code for cache.disk</h1><pre>keep</pre></div>`,
			"Source code for cache.disk",
		},
		{
			"a class that has the name of its library",
			`<title>Cache::Disk - Cache 2.0</title><div class=sidebar><h1><a href=../index.html>Cache</a></h1></div>
			<div class=main><h1>class Cache::Disk</h1><h2>Overview</h2><p>It keeps.</p></div>`,
			"class Cache::Disk",
		},
		{
			"a chapter below the manual's name",
			`<title>4. Building and installing</title><h1>The Cache</h1><h2><a href=page.html>Chapter 4 - Building and
			installing</a></h2><p>make</p>`,
			"Chapter 4 - Building and installing",
		},
		{
			"a manual page whose title has the name of a section",
			`<title>cache.cfg - The syntax of the file</title><h1>NAME</h1><p>cache.cfg</p><h1>SYNTAX</h1><p>key</p>`,
			"cache.cfg - The syntax of the file",
		},
		{
			"a manual's name before a colon", `<title>Cache – 2.0: Hierarchy of classes</title><h1>Hierarchy of classes</h1>`,
			"Hierarchy of classes",
		},
		{
			"a manual's name before a numbered heading", `<title>Cache -- Embedded systems</title><h1>1 Embedded systems</h1>
			<nav>…</nav><h1>1 Embedded systems</h1>`, "1 Embedded systems",
		},
		{
			"a project's name before a colon",
			`<title>Cache: Disk Class Reference</title><div class=header><div class=headertitle><div class=title>Disk Class
			Reference<div class=ingroups>Stores</div></div></div></div><h2 class=groupheader>Public Functions</h2>`,
			"Disk Class Reference",
		},
		{
			"a project's name before a colon, and one section",
			`<title>Cache: Disks</title><div class=headertitle><div class=title>Disks</div></div><p>They keep.</p><h1>Example</h1>`,
			"Disks",
		},
		{
			"a project's name before a list", `<title>Cache: Member List</title><div class=headertitle><div class=title>Disk
			Member List</div></div><table><tr><td>keep()</table>`, "Disk Member List",
		},
		{
			"a project's name before a file", `<title>Cache: disk.h Source File</title><div class=headertitle><div
			class=title>disk.h</div></div><pre>void keep();</pre>`, "disk.h Source File",
		},
		{
			"a project's name before the path of a file", `<title>Cache: stores/disk.h File Reference</title><div
			class=headertitle><div class=title>disk.h File Reference</div></div><h2>Functions</h2>`, "stores/disk.h File Reference",
		},
		// what must not change
		{"a banner with the page's title", `<title>Freshness - The Cache</title><header><h1>Freshness</h1></header><h2>The Cache</h2>`, "Freshness"},
		{"a site's name after a colon", `<title>Questions: The Cache</title><h2>The Cache</h2><p>Why?</p>`, "Questions: The Cache"},
		{"an addition in brackets", `<title>Disks (2024)</title><h2>Keep your disks (2024) cool</h2>`, "Disks (2024)"},
		{"one h1 with another text", `<title>Buy Caches | Shop</title><h1>Mesh Style Caches</h1>`, "Mesh Style Caches"},
		{"the site first", `<title>Editor - The cache that edits</title><main><h1>The cache that edits</h1></main>`, "The cache that edits"},
		{
			"a subtitle", `<title>Caches - A guide to caches</title><main><h1>Caches</h1><h2>A guide to caches</h2></main>`, "Caches",
		},
		{
			"an explanation after a colon",
			`<title>keys: how the keys are made</title><h2>keys</h2><p>It makes keys.</p>`, "keys: how the keys are made",
		},
		{"a colon within the name", `<title>Caches: how they work</title><h1>Caches: how they work</h1><h2>Caches</h2>`, "Caches: how they work"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, err := url.Parse("https://a.test/doc/page.html")
			if err != nil {
				t.Fatal(err)
			}
			doc, err := convert.Parse(t.Context(), []byte(tt.html), "text/html; charset=utf-8", u)
			if err != nil {
				t.Fatal(err)
			}
			res, err := doc.Convert(t.Context(), convert.Options{})
			if err != nil || res.Title != tt.want {
				t.Errorf("title %q, want %q; err = %v", res.Title, tt.want, err)
			}
		})
	}
}

// TestTitlesLoseTheNameOfTheirHost holds which parts of a title element name the site as its host is called, where the
// page has no heading that is its title (rule E7).
func TestTitlesLoseTheNameOfTheirHost(t *testing.T) {
	for _, tt := range []struct{ url, element, want string }{
		{"https://www.freshcache.com/rug", "Tan Rug | Fresh Cache US", "Tan Rug"},
		{"https://eu.freshcache.co.uk/rug", "Tan Rug – FreshCache®", "Tan Rug"},
		{"https://www.freshcache.com/", "Rugs and More | FreshCache", "Rugs and More"},
		{"https://freshcache.com/rug", "Fresh Cache - Tan Rug - Wool", "Tan Rug - Wool"},
		{"https://freshcache.com/", "Fresh Cache | Rugs and more", "Fresh Cache | Rugs and more"},
		{"https://freshcache.com/rug", "Rug | Fresh Cache and how it came to be", "Rug | Fresh Cache and how it came to be"},
		{"https://freshcache.com/rug", "Tan Rug | Cache", "Tan Rug | Cache"},
		{"https://go.dev/doc", "Effective Go - Goals", "Effective Go - Goals"},
		{"https://192.0.2.1/rug", "Tan Rug | 192", "Tan Rug | 192"},
	} {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := convert.Parse(t.Context(), []byte("<title>"+tt.element+"</title><p>It is of wool."),
			"text/html; charset=utf-8", u)
		if err != nil {
			t.Fatal(err)
		}
		res, err := doc.Convert(t.Context(), convert.Options{})
		if err != nil || res.Title != tt.want {
			t.Errorf("title %q at %s: %q, want %q; err = %v", tt.element, tt.url, res.Title, tt.want, err)
		}
	}
}
