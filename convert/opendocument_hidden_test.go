package convert_test

import (
	"strings"
	"testing"
)

// style writes a style of OpenDocument.
func style(name, family, more string, properties ...string) string {
	s := `<style:style style:name="` + name + `" style:family="` + family + `" ` + more + `>`
	for i := 0; i < len(properties); i += 2 {
		s += `<style:` + properties[i] + `-properties ` + properties[i+1] + `/>`
	}
	return s + `</style:style>`
}

// What stands where a color should becomes no text of the page.
func TestAColorOfOpenDocumentIsNoMarkup(t *testing.T) {
	const markup = `#fff&quot;&gt;&lt;a href=&quot;https://evil.test/&quot;&gt;` + order + `&lt;/a&gt;&lt;b title=&quot;`
	for _, properties := range []string{
		`fo:background-color="` + markup + `"`, `draw:fill="solid" draw:fill-color="` + markup + `"`,
	} {
		sheet := openDocument("spreadsheet",
			style("Broken", "table-cell", "", "table-cell", properties, "text", `fo:color="#202020"`),
			`<table:table table:name="One"><table:table-row><table:table-cell table:style-name="Broken"><text:p>`+seenText+
				`</text:p></table:table-cell></table:table-row></table:table>`)
		res := document(t, string(sheet), "")
		if !strings.Contains(res.Markdown, seenText) || strings.Contains(res.Markdown, order) {
			t.Errorf("%s: %q", properties, res.Markdown)
		}
	}
}

func TestHiddenTextOfSheetsOfOpenDocumentIsRemoved(t *testing.T) {
	// As LibreOffice writes them; the formats are ;;; and one that shows text.
	styles := style("Off", "table", "", "table", `table:display="false"`) +
		style("White", "table-cell", "", "text", `fo:color="#ffffff"`) +
		style("Child", "table-cell", `style:parent-style-name="White"`) +
		style("OnWhite", "table-cell", "", "table-cell", `fo:background-color="#ffffff"`, "text", `fo:color="#fdfefe"`) +
		style("OnDark", "table-cell", "", "table-cell", `fo:background-color="#202020"`, "text", `fo:color="#ffffff"`) +
		style("Dark", "table-cell", "", "table-cell", `fo:background-color="#202020"`, "text", `fo:color="#202030"`) +
		style("Plain", "table-cell", `style:parent-style-name="Dark"`, "table-cell", `fo:background-color="transparent"`) +
		style("Tiny", "table-cell", "", "text", `fo:font-size="1pt"`) +
		style("Usual", "table-cell", "", "text", `fo:font-size="10pt" fo:color="#000000"`) +
		style("Clear", "text", "", "text", `loext:opacity="0%"`) +
		style("Letters", "text", "", "text", `fo:color="#ffffff"`) +
		style("Unshown", "text", "", "text", `text:display="none"`) +
		style("NoRow", "table-row", "", "table-row", `style:row-height="0in" style:use-optimal-row-height="false"`) +
		style("Row", "table-row", "", "table-row", `style:row-height="0.178in"`) +
		style("NoColumn", "table-column", "", "table-column", `style:column-width="0cm"`) +
		style("Column", "table-column", "", "table-column", `style:column-width="0.889in"`) +
		strings.Replace(style("Mapped", "table-cell", "", "text", `fo:color="#ffffff"`), "</style:style>",
			`<style:map style:condition="is-true-formula(1)" style:apply-style-name="OnDark"/></style:style>`, 1) +
		`<number:number-style style:name="N1P0"><number:text/></number:number-style><number:text-style style:name="N1">` +
		`<number:text/><style:map style:condition="value()&gt;0" style:apply-style-name="N1P0"/></number:text-style>` +
		`<number:text-style style:name="N2"><number:text>is </number:text><number:text-content/></number:text-style>` +
		`<number:text-style style:name="N3"><number:text>is</number:text></number:text-style>` +
		style("Blank", "table-cell", `style:data-style-name="N1"`) +
		style("Form", "table-cell", `style:data-style-name="N2"`) +
		style("Words", "table-cell", `style:data-style-name="N3"`)
	cell := func(more, text string) string {
		return `<table:table-cell ` + more + `><text:p>` + text + `</text:p></table:table-cell>`
	}
	row := func(more string, cells ...string) string {
		return `<table:table-row ` + more + `>` + strings.Join(cells, "") + `</table:table-row>`
	}
	sheet := func(columns string, rows ...string) []byte {
		return openDocument("spreadsheet", styles, `<table:table table:name="One">`+columns+row("", cell("", seenText))+
			strings.Join(rows, "")+`</table:table>`)
	}
	styled := func(name string) []byte { return sheet("", row("", cell(`table:style-name="`+name+`"`, order))) }
	part := func(name string) []byte {
		return sheet("", row("", cell("", `Some <text:span text:style-name="`+name+`">`+order+`</text:span> text`)))
	}
	two := func(more string) []byte {
		return openDocument("spreadsheet", styles, `<table:table table:name="One">`+row("", cell("", seenText))+
			`</table:table><table:table table:name="Two" `+more+`>`+row("", cell("", order))+`</table:table>`)
	}
	column := func(more string, rest ...string) string {
		return `<table:table-column ` + more + `/>` + strings.Join(rest, "")
	}
	beside := func(columns string) []byte { return sheet(columns, row("", cell("", "Lakes"), cell("", order))) }
	covered := `<table:covered-table-cell><text:p>` + order + `</text:p></table:covered-table-cell>`
	filtered := column("", column(`table:visibility="filter" table:number-columns-repeated="2"`))
	tryCarriers(t, "", []carried{
		{"in another row", sheet("", row("", cell("", order))), true},
		{"in a hidden row", sheet("", row(`table:visibility="collapse"`, cell("", order))), false},
		{"in a row that a filter hides", sheet("", row(`table:visibility="filter"`, cell("", order))), false},
		{"in a row of no height", sheet("", row(`table:style-name="NoRow"`, cell("", order))), false},
		{"in a row of usual height", sheet("", row(`table:style-name="Row"`, cell("", order))), true},
		{"in rows that are folded", sheet("", `<table:table-row-group table:display="false">`+
			row(`table:visibility="collapse"`, cell("", order))+`</table:table-row-group>`), false},
		{"in a hidden column", beside(column("", column(`table:visibility="collapse"`))), false},
		{"in a column of no width", beside(column("", column(`table:style-name="NoColumn"`))), false},
		{"in a column of usual width", beside(column("", column(`table:style-name="Column"`))), true},
		{"in one of two hidden columns", sheet(filtered, row("", cell(`table:number-columns-repeated="2"`, "Lakes"),
			cell("", order))), false},
		{"beside hidden columns", sheet(filtered, row("", cell(`table:number-columns-repeated="3"`, "Lakes"),
			cell("", order))), true},
		{"under a merged cell", sheet("", row("", cell(`table:number-columns-spanned="2"`, "Lakes"), covered)), false},
		{"in another sheet", two(""), true},
		{"in a hidden sheet", two(`table:style-name="Off"`), false},
		{"white", styled("White"), false},
		{"white by the style above", styled("Child"), false},
		{"nearly white on a white cell", styled("OnWhite"), false},
		{"white on a dark cell", styled("OnDark"), true},
		{"dark on a dark cell", styled("Dark"), false},
		{"dark where its cell has no color after all", styled("Plain"), true},
		{"white where a condition may say otherwise", styled("Mapped"), true},
		{"white by the style of its column", beside(column("", column(`table:default-cell-style-name="White"`))), false},
		{
			"in a style of its own, in a column of white letters", sheet(
				column("", column(`table:default-cell-style-name="White"`)),
				row("", cell("", "Lakes"), cell(`table:style-name="Usual"`, order))), true,
		},
		{"white by the style of its row", sheet("", row(`table:default-cell-style-name="White"`, cell("", order))), false},
		{"a point high", styled("Tiny"), false},
		{"ten points high", styled("Usual"), true},
		{"in a format that shows nothing", styled("Blank"), false},
		{"in a value that its format does not show", sheet("", row("", `<table:table-cell table:style-name="Blank" `+
			`office:string-value="`+order+`"><text:p/></table:table-cell>`)), false},
		{"in a format that shows text", styled("Form"), true},
		{"in a value for which its format shows a word", sheet("", row("", `<table:table-cell table:style-name="Words" `+
			`office:string-value="x"><text:p>`+order+`</text:p></table:table-cell>`)), true},
		{"white part of a text", part("Letters"), false},
		{"white part of a text on a dark cell", sheet("", row("", cell(`table:style-name="OnDark"`,
			`<text:span text:style-name="Letters">`+order+`</text:span>`))), true},
		{"transparent part of a text", part("Clear"), false},
		{"part of a text that is not displayed", part("Unshown"), false},
		{"in a shape that is only printed", sheet("", row("", `<table:table-cell><text:p>Lakes</text:p>`+
			`<draw:rect drawooo:display="printer"><text:p>`+order+`</text:p></draw:rect></table:table-cell>`)), false},
		{"in tags of Unicode", sheet("", row("", cell("", "Lakes"+smuggle(order)))), false},
		{"in the name of a sheet, in tags of Unicode", openDocument("spreadsheet", styles, `<table:table table:name="One`+
			smuggle(order)+`">`+row("", cell("", seenText))+`</table:table>`), false},
		{"in a comment", sheet("", row("", cell("", `</text:p><office:annotation><text:p>`+order+
			`</text:p></office:annotation><text:p>Lakes`))), false},
		{"in what a validation says", openDocument("spreadsheet", styles, `<table:content-validations>`+
			`<table:content-validation><table:help-message><text:p>`+order+`</text:p></table:help-message>`+
			`</table:content-validation></table:content-validations><table:table>`+row("", cell("", seenText))+
			`</table:table>`), false},
		{"in a formula", sheet("", row("", cell(`table:formula="of:=&quot;`+order+`&quot;"`, "x"))), false},
		{"in a script", sheet("", row("", cell("", `Lakes<text:script>`+order+`</text:script>`))), false},
		{"in an older form of what is shown", sheet("", `<table:tracked-changes><table:cell-content-change><table:previous>`+
			`<table:change-track-table-cell><text:p>`+order+`</text:p></table:change-track-table-cell></table:previous>`+
			`</table:cell-content-change></table:tracked-changes>`), false},
	})
}

func TestHiddenTextOfSlidesOfOpenDocumentIsRemoved(t *testing.T) {
	styles := style("Gone", "drawing-page", "", "drawing-page", `presentation:visibility="hidden"`) +
		`<style:page-layout style:name="Notes"><style:page-layout-properties fo:page-width="50cm" fo:page-height="50cm"/>` +
		`</style:page-layout><style:page-layout style:name="Slide">` +
		`<style:page-layout-properties fo:page-width="28cm" fo:page-height="15.75cm"/></style:page-layout>` +
		`<style:master-page style:page-layout-name="Slide"><presentation:notes style:page-layout-name="Notes"/>` +
		`</style:master-page><draw:layer-set><draw:layer draw:name="layout"/><draw:layer draw:name="ghost" ` +
		`draw:display="none"/><draw:layer draw:name="paper" draw:display="printer"/></draw:layer-set>` +
		style("Blue", "graphic", "", "graphic", `draw:fill="solid" draw:fill-color="#336699"`) +
		style("Navy", "graphic", `style:parent-style-name="Blue"`, "graphic", `draw:fill-color="#102030"`) +
		style("Glass", "graphic", `style:parent-style-name="Blue"`, "graphic", `draw:opacity="20%"`) +
		style("Open", "graphic", `style:parent-style-name="Blue"`, "graphic", `draw:fill="none"`) +
		style("Lettered", "graphic", `style:parent-style-name="Blue"`, "text", `fo:color="#336699"`) +
		`<style:default-style style:family="graphic"><style:text-properties fo:color="#000000"/></style:default-style>` +
		style("InBlue", "paragraph", "", "text", `fo:color="#336699" loext:opacity="100%"`) +
		style("InNavy", "paragraph", "", "text", `fo:color="#112131"`) +
		style("InWhite", "paragraph", "", "text", `fo:color="#ffffff"`) +
		style("Marked", "paragraph", "", "paragraph", `fo:background-color="#ffffff"`, "text", `fo:color="#ffffff"`) +
		style("Clear", "paragraph", "", "text", `fo:color="#336699" loext:opacity="0%"`) +
		style("Automatic", "paragraph", "", "text", `style:use-window-font-color="true" loext:opacity="0%"`) +
		style("Half", "paragraph", "", "text", `fo:color="#336699" loext:opacity="50%"`) +
		style("Tiny", "paragraph", "", "text", `fo:font-size="1pt"`) +
		style("Unshown", "text", "", "text", `text:display="none"`)
	slides := func(more, second string) []byte {
		return openDocument("presentation", styles, `<draw:page draw:name="One"><draw:frame><draw:text-box><text:p>`+
			seenText+`</text:p></draw:text-box></draw:frame></draw:page><draw:page draw:name="Two" `+more+`>`+second+
			`</draw:page>`)
	}
	frame := func(more string) string {
		return `<draw:frame ` + more + `><draw:text-box><text:p>` + order + `</text:p></draw:text-box></draw:frame>`
	}
	at := func(x, y string) string {
		return frame(`svg:x="` + x + `" svg:y="` + y + `" svg:width="10cm" svg:height="2in"`)
	}
	shape := func(more, paragraph string) []byte {
		return slides("", `<draw:rect `+more+`><text:p `+paragraph+`>`+order+`</text:p></draw:rect>`)
	}
	turned := func(place string) []byte {
		return shape(`svg:width="9cm" svg:height="1cm" draw:transform="rotate (0.785398163397448) translate (`+place+`)"`, "")
	}
	const blue, inBlue = `draw:style-name="Blue"`, `text:style-name="InBlue"`
	tryCarriers(t, "", []carried{
		{"on another slide", slides("", frame("")), true},
		{"on a hidden slide", slides(`draw:style-name="Gone"`, frame("")), false},
		{"in the notes of a hidden slide", slides(`draw:style-name="Gone"`, `<presentation:notes>`+frame("")+
			`</presentation:notes>`), false},
		{"in the notes of a slide", slides("", `<presentation:notes>`+at("50cm", "1cm")+`</presentation:notes>`), true},
		{"on the slide", slides("", at("1cm", "1cm")), true},
		{"partly beside the slide", slides("", at("-9cm", "1cm")), true},
		{"left of the slide", slides("", at("-11cm", "1cm")), false},
		{"right of the slide", slides("", at("12in", "1cm")), false},
		{"above the slide", slides("", at("1cm", "-60mm")), false},
		{"below the slide", slides("", at("1cm", "500pt")), false},
		{"in a shape beside the slide", slides("", `<draw:custom-shape svg:x="40cm" svg:y="0cm"><text:p>`+order+
			`</text:p></draw:custom-shape>`), false},
		{"in a group beside the slide", slides("", `<draw:g>`+at("31cm", "1cm")+`</draw:g>`), false},
		{"turned, beside the slide", turned("49cm 13.2cm"), false},
		{"turned, below the slide", turned("4cm 30cm"), false},
		{"turned, on the slide", turned("13cm 6.3cm"), true},
		{"turned, partly beside the slide", turned("30cm 6.3cm"), true},
		{"in a shape that is not displayed", shape(`drawooo:display="none"`, ""), false},
		{"in a shape that is only printed", shape(`draw:display="printer"`, ""), false},
		{"in a shape that is not printed", shape(`drawooo:display="screen"`, ""), true},
		{"in a layer that is shown", shape(`draw:layer="layout"`, ""), true},
		{"in a layer that is not shown", shape(`draw:layer="ghost"`, ""), false},
		{"in a layer that is only printed", shape(`draw:layer="paper"`, ""), false},
		{"in the color of its shape", shape(blue, inBlue), false},
		{"in another color than its shape", shape(blue, `text:style-name="InWhite"`), true},
		{"in the color of a shape that takes its fill from another style", shape(`draw:style-name="Navy"`,
			`text:style-name="InNavy"`), false},
		{"in the color of a shape that is half transparent", shape(`draw:style-name="Glass"`, inBlue), true},
		{"in the color of a shape that is not filled", shape(`draw:style-name="Open"`, inBlue), true},
		{"in the color that the style of its shape gives letters", shape(`draw:style-name="Lettered"`, ""), false},
		{
			"in the color that the style of texts in its shape gives letters",
			shape(blue+` draw:text-style-name="InBlue"`, ""), false,
		},
		{"in the color of its frame", slides("", strings.Replace(frame(`presentation:style-name="Blue"`), "<text:p>",
			`<text:p `+inBlue+`>`, 1)), false},
		{"white on a slide of a color that is not known", shape("", `text:style-name="InWhite"`), true},
		{"white on a ground of its own", shape("", `text:style-name="Marked"`), false},
		{"transparent", shape("", `text:style-name="Clear"`), false},
		{"in the automatic color, as LibreOffice writes it", shape("", `text:style-name="Automatic"`), true},
		{"half transparent", shape(blue, `text:style-name="Half"`), false},
		{"half transparent on the slide", shape("", `text:style-name="Half"`), true},
		{"a point high", shape("", `text:style-name="Tiny"`), false},
		{"a point high by the style of texts in its shape", shape(`draw:text-style-name="Tiny"`, ""), false},
		{"not displayed", slides("", `<draw:rect><text:p>Lakes <text:span text:style-name="Unshown">`+order+
			`</text:span></text:p></draw:rect>`), false},
		{"in the description of a shape", slides("", `<draw:rect><svg:desc>`+order+
			`</svg:desc><text:p>Lakes</text:p></draw:rect>`), true},
		{"in metadata", slides("", `<draw:frame><table:table><table:desc>`+order+
			`</table:desc></table:table></draw:frame>`), false},
		{"in a comment", slides("", `<officeooo:annotation><text:p>`+order+`</text:p></officeooo:annotation>`), false},
		{"in a script", slides("", `<draw:rect><office:event-listeners>`+order+
			`</office:event-listeners></draw:rect>`), false},
		{"in a template", slides("", `<office:forms><form:form><form:hidden form:value="`+order+
			`"/></form:form></office:forms>`), false},
		{"in tags of Unicode", slides("", `<draw:rect><text:p>Lakes`+smuggle(order)+`</text:p></draw:rect>`), false},
		{"in the name of a slide, in tags of Unicode", slides("", `</draw:page><draw:page draw:name="Three`+
			smuggle(order)+`">`), false},
	})
}
