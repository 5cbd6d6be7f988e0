package ui

import (
	"net/url"
	"testing"
)

func TestATitleStandsOnce(t *testing.T) {
	v := &pageView{title: "A Title", headings: []string{"a-title", "a-title-1"}, starts: []int{3, 14}}
	got := string(v.render([]byte("x\n\n# A *title*\n\n# A title\n")))
	if want := "<p>x</p>\n<span id=\"h-a-title\"></span>\n<h2 id=\"h-a-title-1\">A title</h2>\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for title, text := range map[string]string{"": "# \n", "A title": "## A title\n"} {
		if got := string((&pageView{title: title}).render([]byte(text))); got[:2] != "<h" {
			t.Errorf("%q: %s", title, got)
		}
	}
}

func TestAlertsOfGitHubAreShownAsSuch(t *testing.T) {
	box := func(class, title, rest string) string {
		return `<blockquote class="alert ` + class + `"><p class="kind">` + title + "</p>\n" + rest +
			"</blockquote>\n"
	}
	const br = `<code class="html">&lt;br&gt;</code>`
	for text, want := range map[string]string{
		"> [!NOTE]\n> Read *this*.\n":           box("note", "Note", "<p>Read <em>this</em>.</p>\n"),
		"> [!tip]  \n> A\n>\n> B\n":             box("tip", "Tip", "<p>A</p>\n<p>B</p>\n"),
		"> [!IMPORTANT]\n> - a\n":               box("important", "Important", "<ul>\n<li>a</li>\n</ul>\n"),
		"> [!WARNING]\n>\n> x<br>\n":            box("warning", "Warning", "<p>x"+br+"</p>\n"),
		"> [!CAUTION]\n":                        box("caution", "Caution", ""),
		"- > [!NOTE]\n  > x\n":                  "<ul>\n<li>\n" + box("note", "Note", "<p>x</p>\n") + "</li>\n</ul>\n",
		"> [!NOTE] x\n":                         "<blockquote>\n<p>[!NOTE] x</p>\n</blockquote>\n",
		"> [!EVIL\" onload=hit()]\n> x\n":       "<blockquote>\n<p>[!EVIL&quot; onload=hit()]\nx</p>\n</blockquote>\n",
		"> x\n> [!NOTE]\n":                      "<blockquote>\n<p>x\n[!NOTE]</p>\n</blockquote>\n",
		"> \\[!NOTE]\n> x\n":                    "<blockquote>\n<p>[!NOTE]\nx</p>\n</blockquote>\n",
		"> [!NOTE]\n> x\n\n[!NOTE]: /elsewhere": box("note", "Note", "<p>x</p>\n"),
	} {
		if got := string((&pageView{}).render([]byte(text))); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestImagesThatAreNotLoadedLeaveTheirNames(t *testing.T) {
	base, err := url.Parse("https://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	link := `<a href="https://a.test/x" rel="noreferrer noopener nofollow">`
	for text, want := range map[string]string{
		"![a cat](/cat.png)":      `<p><span class="image">image: a cat</span></p>` + "\n",
		"![](/cat.png)":           "<p></p>\n",
		"[![](/cat.png)](/x)":     "<p>" + link + `<span class="image">image</span></a></p>` + "\n",
		"[![a cat](/c.png)](/x)":  "<p>" + link + `<span class="image">image: a cat</span></a></p>` + "\n",
		"[![](/c.png) Cats](/x)":  "<p>" + link + `<span class="image">image</span> Cats</a></p>` + "\n",
		"![](/a.png)![](/b.png).": "<p>.</p>\n",
	} {
		if got := string((&pageView{base: base}).render([]byte(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
