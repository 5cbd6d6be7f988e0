package judge

import (
	"slices"
	"strings"
	"testing"
)

func TestCommentsUnderAnArticleAreNoContent(t *testing.T) {
	article := "<h1>Title</h1><p>" + strings.Repeat("Prose that an author wrote. ", 12) + "</p>"
	said := "<h2>Two comments</h2><ol><li><p>" + strings.Repeat("Prose that a reader wrote. ", 20) + "</ol>"
	for _, tt := range []struct {
		name, page string
		want       bool // comments stay
	}{
		{"box of comments by id", article + "<section id=comments>" + said + "</section>", false},
		{"by class", article + "<div class='wide comments-area'>" + said + "</div>", false},
		{
			"a list in a box of another name", article + "<div class=below><div class=commentlist>" + said + "</div></div>",
			false,
		},
		{"filled by a service", article + "<div id=disqus_thread>" + said + "</div>", false},
		{"of another name", article + "<section id=story>" + said + "</section>", true},
		{"commentary on a match", article + "<div class=live-match-comments>" + said + "</div>", true},
		{"posts of a thread", article + "<section id=comments class=DiscussionBoard>" + said + "</section>", true},
		{"under no article", "<h1>Title</h1><p>Ask away.</p><section id=comments>" + said + "</section>", true},
		{"round all of the page", "<div class=comments-open>" + article + said + "</div>", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := outlined(t, tt.page)
			chance := slices.Repeat([]float32{.9}, len(o.blocks))
			o.dropComments(chance)
			if got := chance[len(chance)-1] > 0; got != tt.want {
				t.Errorf("the last comment may stay: %v, want %v", got, tt.want)
			}
			if chance[0] == 0 {
				t.Error("the chance of the title is 0")
			}
		})
	}
}
