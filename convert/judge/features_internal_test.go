package judge

import (
	"math"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert/head"
	"github.com/readthru/readthru/convert/rules"
)

func TestFeaturesOfPicturesEmphasisAndTitle(t *testing.T) {
	o, body := outlined(t, `<h1>The title</h1><div><p>`+strings.Repeat("Some words of prose. ", 12)+`</p></div>
<div class=photo><div><img src=x></div><p>(<i>Photo: <b>An</b> agency</i>)</p></div><p>`+"What it says"+`</p>`)
	o.about(&head.Head{Title: "The Title!", Meta: map[string]string{"description": "What it says."}})
	p := o.facts(rules.Article)
	if len(o.blocks) != 4 || o.boxes[p.titleBox].node != body || p.titleAt != 0 {
		t.Fatalf("%d blocks; title at %d, with prose in %s", len(o.blocks), p.titleAt, o.boxes[p.titleBox].node.Data)
	}
	const caption, last = 2, 3
	b := &o.blocks[caption]
	if b.words != 3 || b.slanted != 3 || b.bold != 1 || !b.bracket {
		t.Errorf("caption of %d words, %d slanted, %d bold, bracket %v", b.words, b.slanted, b.bold, b.bracket)
	}
	if p.picturesAt[caption] != 1 || p.picturesAt[last] != 0 || p.picturesIn[o.boxes[b.box].parent] != 1 ||
		p.picturesIn[b.box] != 0 {
		t.Errorf("pictures at %v, in %v", p.picturesAt, p.picturesIn)
	}
	var f [featureCount]float32
	v := &vector{f: &f}
	o.titleFeatures(v, last, p)
	if f[0] != 0 || f[1] != 1 || f[2] != 1 || f[3] != 2 {
		t.Errorf("the page's description has features %v", f[:v.n])
	}
	o.features(last, p, &f)
	for i, value := range f {
		if math.IsNaN(float64(value)) {
			t.Errorf("feature %d is no number", i)
		}
	}
}

func TestFeatureVectorIsFull(t *testing.T) {
	o, _ := outlined(t, "<p>Some text")
	p := o.facts(rules.Article)
	var f [featureCount]float32
	v := &vector{f: &f}
	o.selfFeatures(v, 0)
	o.roundFeatures(v, 0, p)
	o.placeFeatures(v, 0, p)
	o.boxesFeatures(v, 0, p)
	o.namesFeatures(v, 0, p)
	o.pageFeatures(v, 0, p)
	o.styleFeatures(v, 0, p)
	o.pictureFeatures(v, 0, p)
	o.emphasisFeatures(v, 0)
	o.titleFeatures(v, 0, p)
	if v.n != featureCount {
		t.Errorf("%d features are put, the vector has %d", v.n, featureCount)
	}
}
