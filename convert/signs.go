package convert

import "github.com/readthru/readthru/convert/signs"

// Signs are facts by which a caller decides whether a response holds the page at all. Package signs finds them; this
// file lets other packages ask.
type Signs = signs.Signs

// Wall is what package signs says of a bot wall: the mark of one in a response, in the first 512 KiB of its content, or
// "".
func Wall(status int, header map[string][]string, content []byte) string {
	return signs.Wall(status, header, content)
}

// WallOwner is what package signs says of whose bot wall has a mark that [Wall] returned; "" if the mark does not say
// it.
func WallOwner(mark string) string { return signs.WallOwner(mark) }

// Signs returns facts by which a caller decides whether this is the page at all, or what stands in its place. They are
// known once the page is parsed, without a conversion.
func (d *Document) Signs() signs.Signs { return d.signs }
