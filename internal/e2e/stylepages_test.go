package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
)

// stylePage is a small page that styles show or hide: {TEXT} stands for its only text.
type stylePage struct {
	seed     uint64
	html     string
	features []string // of style, that it uses
}

// stylist writes one page.
type stylist struct {
	*rand.Rand
	page    stylePage
	sheet   strings.Builder
	imports strings.Builder
	names   int
}

// newStylePage returns the page of a seed. It has one to three boxes round its text, each of which may hide it in some
// way, by rules that hold in some place. Values are far from those of which people could argue whether they hide.
func newStylePage(seed uint64) stylePage {
	s := &stylist{Rand: rand.New(rand.NewPCG(seed, 40))}
	s.page.seed = seed
	inner := s.element("p", "{TEXT}", s.effect())
	for range s.IntN(3) {
		effect := ""
		if s.IntN(3) == 0 {
			effect = s.effect()
		}
		inner = s.element(s.pick("div", "section", "article"), inner, effect)
	}
	if s.IntN(3) == 0 {
		inner = s.shadow(inner)
	}
	if s.IntN(4) == 0 {
		inner = s.shape(inner)
	}
	if slices.Contains(s.page.features, "anchor positioning") {
		// Its letters are transparent: white text over them would be seen.
		inner = `<b style="anchor-name:--anchor;color:transparent">Anchor</b>` + inner
	}
	if s.sheet.Len()+s.imports.Len() > 0 {
		inner = "<style>" + s.imports.String() + s.sheet.String() + "</style>" + inner
	}
	s.page.html = inner
	return s.page
}

func (s *stylist) pick(all ...string) string { return all[s.IntN(len(all))] }

// uses notes a feature.
func (s *stylist) uses(feature string) {
	if !slices.Contains(s.page.features, feature) {
		s.page.features = append(s.page.features, feature)
	}
}

func (s *stylist) name(letter string) string {
	s.names++
	return fmt.Sprint(letter, s.names)
}

// element returns an element with an inside, to which a declaration applies.
func (s *stylist) element(tag, inside, style string) string {
	if style == "" {
		return "<" + tag + ">" + inside + "</" + tag + ">"
	}
	class := s.name("c")
	if s.IntN(3) == 0 {
		return fmt.Sprintf(`<%s style="%s">%s</%[1]s>`, tag, style, inside)
	}
	var scopes []string
	rule := func(style string) {
		selector := s.pick("."+class, tag+"."+class, ":is(."+class+",.none)", ":where(."+class+")", "[class="+class+"]",
			"."+class+":not(.none)")
		block := selector + "{" + style + "}"
		switch s.IntN(7) {
		case 0:
			s.uses("@layer")
			s.sheet.WriteString(s.pick("@layer b,a;", "@layer a,b;", ""))
			block = "@layer " + s.pick("a", "b", "a.b", "") + "{" + block + "}"
		case 1, 2:
			s.uses("@scope")
			scope := s.name("s")
			scopes = append(scopes, scope)
			limit := s.pick("", " to (.none)", " to (."+class+")", " to (:scope > *)", " to ("+tag+")")
			block = "@scope (." + scope + ")" + limit + "{" + block + "}"
			block = strings.Replace(block, ":where", s.pick(":where", ":scope :where"), 1)
		case 4:
			if s.IntN(3) == 0 { // a sheet of its own, which must stand first
				s.uses("@import")
				how := s.pick("", "", " layer", " layer(a)", " supports(color:red)", " supports(no:way)", " screen", " print",
					" layer(b) supports(display:grid) screen")
				s.imports.WriteString("@import url('data:text/css," + url.PathEscape(block) + "')" + how + ";")
				return
			}
		case 3:
			block = s.pick("@media screen", "@supports (color:red)", "@media (min-width:1px)", "@media print",
				"@supports (no:way)") + "{" + block + "}"
		}
		s.sheet.WriteString(block)
	}
	rule(style)
	if s.IntN(3) == 0 { // a second rule for the same property
		s.uses("two rules")
		property, _, _ := strings.Cut(style, ":")
		if values := counterparts[property]; values != nil {
			rule(property + ":" + s.pick(values...) + s.pick("", "", "!important"))
		}
	}
	element := fmt.Sprintf(`<%s class="%s">%s</%[1]s>`, tag, class, inside)
	for _, i := range s.Perm(len(scopes)) { // the nearer scope wins
		element = `<div class="` + scopes[i] + `">` + element + "</div>"
	}
	return element
}

// counterparts are values by which rules for one property contradict one another.
var counterparts = map[string][]string{
	"display": {"none", "block"}, "visibility": {"hidden", "visible"}, "opacity": {"0", "1"},
	"font-size": {"0", "16px"}, "color": {"black", "white"}, "clip-path": {"inset(50%)", "none"},
	"transform": {"scale(0)", "none"}, "content-visibility": {"hidden", "visible"},
}

// effects are what may hide a text, by the names of their features.
var effects = []struct {
	feature string
	write   func(s *stylist) string
}{
	{"display, visibility, opacity", func(s *stylist) string {
		return s.pick("display:none", "display:block", "display:contents", "display:flex", "visibility:hidden",
			"visibility:visible", "visibility:collapse", "opacity:0", "opacity:.001", "opacity:.7", "opacity:0%",
			"opacity:calc(1 - 1)", "filter:opacity(0)", "filter:opacity(1)", "display:inline-block")
	}},
	{"relative and mixed colours", func(s *stylist) string {
		from := s.pick("black", "white", "red", "#123456", "rgb(0 0 0 / 0)", "currentcolor", "hsl(120 50% 20%)")
		alpha := s.pick("0", "1", "alpha", "calc(alpha*0)", "0%", "calc(1 - alpha)")
		return "color:" + s.pick("rgb(from "+from+" r g b / "+alpha+")", "hsl(from "+from+" h s l / "+alpha+")",
			"oklch(from "+from+" l c h / "+alpha+")", "rgb(from "+from+" 255 255 255)", "rgb(from "+from+" 0 0 0)",
			"hsl(from "+from+" h s 100%)", "color-mix(in srgb,black "+s.pick("0%", "100%", "60%")+",transparent)",
			"color-mix(in srgb,white,white)", "color-mix(in oklab,"+from+" 0%,black)", "light-dark(black,white)",
			"light-dark(white,black)", "color(srgb 1 1 1)", "color(srgb 0 0 0)", "lab(100 0 0)", "lab(0 0 0)",
			"hwb(0 100% 0%)", "oklab(1 0 0)")
	}},
	{"same colours", func(s *stylist) string {
		colours := []string{"white", "black", "#fff", "#000", "navy", "rgb(255 255 255)", "yellow"}
		return s.pick("color:"+s.pick(colours...)+";background:"+s.pick(colours...), "color:"+s.pick(colours...),
			"background:"+s.pick(colours...), "color:transparent", "-webkit-text-fill-color:"+s.pick("white", "black"),
			"background:linear-gradient("+s.pick("white,white", "black,black", "white,navy")+");color:white")
	}},
	{"animations", func(s *stylist) string {
		name := s.name("k")
		frames := func() string {
			return s.pick("visibility:hidden", "visibility:visible", "opacity:0", "opacity:1", "color:transparent",
				"color:black", "transform:scale(0)", "transform:none", "font-size:0", "clip-path:inset(50%)")
		}
		from, to := frames(), frames()
		times := s.pick("1", "1", "2", "0")
		mode := s.pick("forwards", "both", "none", "backwards")
		if s.IntN(3) == 0 { // for ever: it must look the same at all times
			times, to = "infinite", from
		}
		s.sheet.WriteString("@keyframes " + name + "{from{" + from + "}to{" + to + "}}")
		return "animation:" + name + " .001s " + times + " " + mode + s.pick("", " reverse", " alternate", " linear")
	}},
	{"motion paths", func(s *stylist) string {
		far, near := "M -9999 -9999 L -9000 -9000", "M 60 20 L 80 20"
		return "offset-rotate:0deg;offset-path:path('" + s.pick(far, near, "M 60 20 L -9999 20", "M -9999 20 L 60 20") +
			"');offset-distance:" + s.pick("0", "100%", "0%", "0px") + ";width:120px"
	}},
	{"transforms", func(s *stylist) string {
		return s.pick("transform:scale(0)", "transform:scale(.001)", "transform:scale(1)", "transform:none",
			"transform:translateX(-9999px)", "transform:translate(5px,5px)", "transform:rotateX(90deg)",
			"transform:rotateY(180deg);backface-visibility:hidden", "transform:rotateY(360deg);backface-visibility:hidden",
			"scale:0", "scale:1", "rotate:y 90deg", "rotate:0deg", "translate:0 -9999px", "translate:3px",
			"transform:matrix(0,0,0,0,0,0)", "transform:matrix(1,0,0,1,4,4)", "transform:scaleX(0) translateX(9px)",
			"transform:translateX(-9999px) translateX(9999px)", "zoom:.001", "zoom:1", "transform:skewX(90deg)")
	}},
	{"clips and masks", func(s *stylist) string {
		return s.pick("clip-path:inset(50%)", "clip-path:inset(0)", "clip-path:circle(0)", "clip-path:circle(400px)",
			"clip-path:polygon(0 0,0 0,0 0)", "clip-path:polygon(0 0,100% 0,100% 100%,0 100%)",
			"clip-path:xywh(0 0 0 0)", "clip-path:xywh(0 0 100% 100%)", "clip-path:rect(0 0 0 0)",
			"clip-path:rect(auto auto auto auto)", "clip-path:ellipse(0 0)", "clip-path:inset(0 100% 0 0)",
			"position:absolute;clip:rect(0,0,0,0)", "clip:rect(0,0,0,0)", "position:absolute;clip:auto",
			"mask-image:linear-gradient(transparent,transparent)", "mask-image:linear-gradient(black,black)",
			"clip-path:inset(100% 0 -100% 0)", "clip-path:path('M0 0')")
	}},
	{"boxes without room", func(s *stylist) string {
		return "overflow:" + s.pick("hidden", "clip", "visible", "auto", "hidden") + ";" + s.pick("height:0", "max-height:0",
			"width:0;white-space:nowrap", "height:60px", "min-height:40px;height:0", "height:0;padding-top:40px",
			"height:calc(0px)", "height:clamp(0px,0px,9px)", "max-height:min(0px,90px)", "height:max(0px,40px)",
			"height:auto", "block-size:0", "max-block-size:0", "line-height:0;height:0")
	}},
	{"interpolate-size", func(s *stylist) string {
		return "interpolate-size:" + s.pick("allow-keywords", "numeric-only") + ";overflow:hidden;height:" +
			s.pick("calc-size(auto,size*0)", "calc-size(auto,size)", "calc-size(auto,0px)", "auto", "0",
				"calc-size(max-content,size*0)", "calc-size(0px,size)", "calc-size(any,0px)")
	}},
	{"content-visibility", func(s *stylist) string {
		// Not auto: what a browser paints of it depends on where its window is.
		return s.pick("content-visibility:hidden", "content-visibility:visible", "content-visibility:hidden;display:inline",
			"content-visibility:hidden;display:contents", "content-visibility:hidden;display:grid")
	}},
	{"positions", func(s *stylist) string {
		return s.pick("position:absolute;left:-9999px", "position:absolute;left:9px", "position:relative;left:-9999px",
			"position:static;left:-9999px", "position:fixed;top:-9999px", "left:-9999px", "position:absolute;inset:-9999px auto auto",
			"margin-left:-9999px", "margin-left:9px", "text-indent:-9999px", "text-indent:9px",
			"position:absolute;right:200vw", "position:absolute;inset-inline-start:-9999px", "margin-top:-9999px",
			"position:sticky;left:-9999px")
	}},
	{"anchor positioning", func(s *stylist) string {
		return "position:absolute;" + s.pick("left:anchor(--none right,-9999px)", "left:anchor(--none right,9px)",
			"position-anchor:--anchor;top:anchor(bottom);left:0", "position-anchor:--anchor;left:calc(anchor(left) - 9999px)",
			"position-anchor:--none;left:anchor(right,-9999px)", "position-anchor:--anchor;position-area:bottom",
			"left:anchor(--anchor left,-9999px);top:9px", "width:anchor-size(--none width,0px);overflow:hidden;height:0",
			"position-visibility:anchors-valid;position-anchor:--none;top:anchor(bottom)",
			"position-visibility:always;left:9px")
	}},
	{"tiny text", func(s *stylist) string {
		return s.pick("font-size:0", "font-size:16px", "font-size:.01px", "font-size:calc(0*1px)", "font-size:1em",
			"font-size:.001em", "font-size:0%", "font-size:100%", "font:0/1 serif", "font:16px/1 serif",
			"font-size:clamp(0px,0px,1px)", "font-size:max(0px,14px)", "letter-spacing:.1em",
			"font-size-adjust:0", "font-size:xx-small")
	}},
	{"custom properties", func(s *stylist) string {
		return s.pick("--a:none;display:var(--a)", "--a:block;display:var(--a)", "display:var(--b,none)",
			"display:var(--b,block)", "--a:0;opacity:var(--a)", "--a: ;opacity:var(--a,0)", "--a:var(--b);opacity:var(--a,0)",
			"--a:white;color:var(--a)", "--a:inherit;visibility:var(--a,hidden)", "--a:hidden;visibility:var(--A,visible)",
			"--a:calc(0*1px);font-size:var(--a)", "--a:0;font-size:calc(var(--a)*1em)")
	}},
}

// effect returns declarations for one element.
func (s *stylist) effect() string {
	e := effects[s.IntN(len(effects))]
	s.uses(e.feature)
	return e.write(s)
}

// shadow puts an inside into a shadow root, or into a slot of one, or beside one.
func (s *stylist) shadow(inside string) string {
	s.uses("shadow roots")
	effect := s.pick("display:none", "display:block", "visibility:hidden", "opacity:0", "opacity:1", "color:transparent",
		"position:absolute;left:-9999px", "visibility:visible")
	part := s.pick("a", "b")
	selector := s.pick(":host", ":host(.h)", ":host(.none)", ":host-context(.o)", ":host-context(.none)",
		"::slotted(*)", "::slotted(p)", "::slotted(.none)", "slot", "b ::slotted(*)", ".h", "p", "div", "[part=a]",
		":host > div", ":host p", "div ::slotted(div)", ":host(:not(.none)) div")
	style := "<style>" + selector + "{" + effect + s.pick("", "", "!important") + "}</style>"
	if s.IntN(3) == 0 {
		s.uses("::part")
		s.sheet.WriteString(s.pick("x-a::part(a)", ".h::part(b)", "x-a::part(none)", "*::part(a)") + "{" +
			s.pick("display:none", "opacity:0", "visibility:visible", "display:block") + "}")
	}
	if s.IntN(3) == 0 {
		s.sheet.WriteString(s.pick("x-a", ".h", "x-a > *", ".o p") + "{" + s.pick("display:block", "visibility:visible",
			"opacity:1", "display:none") + "}")
	}
	slot := s.pick("<slot></slot>", "<div><slot></slot></div>", "<div part="+part+"><slot></slot></div>",
		"<b><slot></slot></b>", "<slot name=x></slot>")
	root, light := slot, inside
	switch s.IntN(3) {
	case 0: // in the root
		root, light = "<div part="+part+">"+inside+"</div>", ""
	case 1: // it fills nothing
		if s.IntN(4) == 0 {
			root = "<i>x</i>"
		}
	}
	host := `<x-a class=h><template shadowrootmode=` + s.pick("open", "open", "closed") + `>` + style + root +
		"</template>" + light + "</x-a>"
	if s.IntN(5) == 0 { // rules of a root are not about its neighbours
		host = `<x-a class=h><template shadowrootmode=open><style>p,div,section,article{display:none}</style></template></x-a>` +
			inside
	}
	return "<div class=o>" + host + "</div>"
}

// shape puts an inside into a grid or a flexible box that may have no room for it.
func (s *stylist) shape(inside string) string {
	s.uses("grids and flexible boxes")
	room := s.pick("overflow:hidden;min-height:0", "overflow:hidden", "min-height:0", "")
	switch s.IntN(4) {
	case 0:
		return `<div style="display:flex"><div style="flex:0 0 ` + s.pick("0", "300px", "auto") + `;overflow:` +
			s.pick("hidden", "visible") + `;white-space:nowrap">` + inside + "</div></div>"
	case 1:
		return `<div style="display:grid;grid-template-columns:` + s.pick("0", "1fr", "300px", "0px 1fr") +
			`"><div style="overflow:` + s.pick("hidden", "visible") + `;white-space:nowrap;min-width:0">` + inside +
			"</div></div>"
	}
	return `<div style="display:` + s.pick("grid", "grid", "inline-grid", "block") + ";grid-template-rows:" +
		s.pick("0fr", "1fr", "0", "auto", "0px", "minmax(0,0)", "60px") + `"><div style="` + room + `">` + inside +
		"</div></div>"
}
