package convert

import (
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/formats"
	"github.com/readthru/readthru/convert/mdwrite"
	"github.com/readthru/readthru/page"
)

// describe makes a page that says what a body without text is: its kind, the dimensions of a picture, and its size.
// Agents then know what a link leads to.
func (d *Document) describe(content []byte, contentType string) {
	var b strings.Builder
	d.say(&b, formats.Kind(content, page.MediaType(contentType)), len(content))
	d.ready = b.String()
}

// say writes the description of a body without text. what says what it is, size is in bytes. It sets the title and
// warns that the body is not text.
func (d *Document) say(b *strings.Builder, what string, size int) {
	name := d.fileName()
	d.head.Title = name
	if name != "" {
		b.WriteString(mdwrite.Escaped(name, true, ':') + ": ")
	}
	b.WriteString(what + ", " + strconv.Itoa(size) + " bytes.")
	d.warnings = append(d.warnings, WarnBinary)
}
