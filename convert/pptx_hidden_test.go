package convert_test

import "testing"

func TestHiddenTextOfPresentationsIsRemoved(t *testing.T) {
	run := func(properties, text string) string {
		return `<a:p><a:r><a:rPr` + properties + `</a:rPr><a:t>` + text + `</a:t></a:r></a:p>`
	}
	shape := func(properties, body string) string {
		return `<p:sp><p:nvSpPr><p:cNvPr id="1"/></p:nvSpPr><p:spPr>` + properties + `</p:spPr><p:txBody>` + body +
			`</p:txBody></p:sp>`
	}
	placed := func(x, y, w, h string) string {
		return `<a:xfrm><a:off x="` + x + `" y="` + y + `"/><a:ext cx="` + w + `" cy="` + h + `"/></a:xfrm>`
	}
	fill := func(c string) string { return `<a:solidFill><a:srgbClr val="` + c + `"/></a:solidFill>` }
	deck := func(shapes string) []byte {
		return zipOf("ppt/slides/slide1.xml", `<p:sld>`+shape("", run(">", seenText))+shapes+`</p:sld>`,
			"ppt/presentation.xml", `<p:presentation><p:sldIdLst><p:sldId r:id="r1"/></p:sldIdLst>`+
				`<p:sldSz cx="9144000" cy="6858000"/></p:presentation>`,
			"ppt/_rels/presentation.xml.rels",
			"<Relationships>"+relation("r1", "slide", "slides/slide1.xml")+"</Relationships>")
	}
	text := run(">", order)
	tryCarriers(t, "", []carried{
		{"usual", deck(shape("", text)), true},
		{"on the slide", deck(shape(placed("100000", "100000", "900000", "900000"), text)), true},
		{"right of the slide", deck(shape(placed("9200000", "100000", "900000", "900000"), text)), false},
		{"left of the slide", deck(shape(placed("-1000000", "100000", "900000", "900000"), text)), false},
		{"above the slide", deck(shape(placed("0", "-1000000", "900000", "900000"), text)), false},
		{"below the slide", deck(shape(placed("0", "7000000", "900000", "900000"), text)), false},
		{"partly beside the slide", deck(shape(placed("-500000", "0", "900000", "900000"), text)), true},
		{
			"in a group beside the slide", deck(`<p:grpSp><p:grpSpPr><a:xfrm><a:off x="9900000" y="0"/>` +
				`<a:ext cx="900000" cy="900000"/>` +
				`<a:chOff x="0" y="0"/><a:chExt cx="900000" cy="900000"/></a:xfrm></p:grpSpPr>` + shape(placed("0", "0",
				"900000", "900000"), text) +
				`</p:grpSp>`), false,
		},
		{
			"in a group on the slide, with coordinates of its own", deck(`<p:grpSp><p:grpSpPr><a:xfrm><a:off x="0" y="0"/>` +
				`<a:ext cx="900000" cy="900000"/><a:chOff x="99000000" y="0"/><a:chExt cx="900000" cy="900000"/></a:xfrm>` +
				`</p:grpSpPr>` +
				shape(placed("99000000", "0", "900000", "900000"), text) + `</p:grpSp>`), true,
		},
		{"in the color of its box", deck(shape(fill("336699"), run(">"+fill("336699"), order))), false},
		{"in a color like that of its box", deck(shape(fill("FFFFFF"), run(">"+fill("FEFEFE"), order))), false},
		{"in another color than its box", deck(shape(fill("336699"), run(">"+fill("FFFFFF"), order))), true},
		{"white on a slide of a color that is not known", deck(shape("", run(">"+fill("FFFFFF"), order))), true},
		{"without fill", deck(shape("", run("><a:noFill/>", order))), false},
		{
			"transparent",
			deck(shape("", run(`><a:solidFill><a:srgbClr val="000000"><a:alpha val="0"/></a:srgbClr></a:solidFill>`,
				order))), false,
		},
		{
			"half transparent",
			deck(shape("", run(`><a:solidFill><a:srgbClr val="000000"><a:alpha val="50000"/></a:srgbClr></a:solidFill>`,
				order))), true,
		},
		{"a point high", deck(shape("", run(` sz="100">`, order))), false},
		{"twelve points high", deck(shape("", run(` sz="1200">`, order))), true},
		{
			"in a hidden shape",
			deck(`<p:sp><p:nvSpPr><p:cNvPr id="1" hidden="1"/></p:nvSpPr><p:txBody>` + text + `</p:txBody></p:sp>`), false,
		},
		{"in the name of a shape", deck(`<p:sp><p:nvSpPr><p:cNvPr id="1" name="` + order + `"/></p:nvSpPr></p:sp>`), false},
		{
			"in an older form of what is shown",
			deck(`<mc:AlternateContent><mc:Choice/><mc:Fallback>` + shape("", text) +
				`</mc:Fallback></mc:AlternateContent>`), false,
		},
		{
			"in a hidden place for the title",
			deck(`<p:sp><p:nvSpPr><p:cNvPr id="1" hidden="1"/><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody>` +
				text + `</p:txBody></p:sp>`), false,
		},
		{"in a table", deck(`<a:tbl><a:tr><a:tc><a:txBody>` + text + `</a:txBody></a:tc></a:tr></a:tbl>`), true},
		{
			"under a merged cell of a table", deck(`<a:tbl><a:tr><a:tc gridSpan="2"><a:txBody>` + run(">", "Lakes") +
				`</a:txBody></a:tc><a:tc hMerge="1"><a:txBody>` + text + `</a:txBody></a:tc></a:tr></a:tbl>`), false,
		},
		{"nearly transparent", deck(shape("", run(`><a:solidFill><a:srgbClr val="000000"><a:alpha val="4000"/></a:srgbClr>`+
			`</a:solidFill>`, order))), false},
		{"in a hidden group", deck(`<p:grpSp><p:nvGrpSpPr><p:cNvPr id="1" hidden="1"/></p:nvGrpSpPr>` + shape("", text) +
			`</p:grpSp>`), false},
		{"in a hidden table", deck(`<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="1" hidden="1"/></p:nvGraphicFramePr>` +
			`<a:tbl><a:tr><a:tc><a:txBody>` + text + `</a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>`), false},
		{"in the description of a hidden picture", deck(`<p:pic><p:nvPicPr><p:cNvPr id="1" hidden="1" descr="` + order +
			`"/></p:nvPicPr></p:pic>`), false},
		{"in tags of Unicode", deck(shape("", run(">", "Lakes"+smuggle(order)))), false},
		{"in metadata", zipOf("ppt/slides/slide1.xml", `<p:sld>`+shape("", run(">", seenText))+`</p:sld>`,
			"ppt/presentation.xml", `<p:presentation><p:sldIdLst><p:sldId r:id="r1"/></p:sldIdLst></p:presentation>`,
			"ppt/_rels/presentation.xml.rels",
			"<Relationships>"+relation("r1", "slide", "slides/slide1.xml")+"</Relationships>",
			"ppt/slideLayouts/slideLayout1.xml", `<p:sldLayout>`+shape("", text)+`</p:sldLayout>`,
			"ppt/tags/tag1.xml", `<p:tagLst><p:tag name="x" val="`+order+`"/></p:tagLst>`), false},
		{
			"on a hidden slide",
			presentation(`<p:sld>`+shape("", run(">", seenText))+`</p:sld>`, `<p:sld show="0">`+shape("", text)+
				`</p:sld>`), false,
		},
	})
}
