package ui

import (
	"net/url"
	"testing"
)

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
