package markdown

// cursor is a place in a line. A tab may have been consumed in part: then the column is within it.
type cursor struct {
	line       []byte
	at, column int
}

// space returns how many columns of white space follow in the line, and where they end. A tab goes to the next multiple
// of four.
func (c *cursor) space() (width, end int) {
	column := c.column
	for end = c.at; end < len(c.line); end++ {
		switch c.line[end] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		default:
			return column - c.column, end
		}
	}
	return column - c.column, end
}

// skip consumes up to n columns of white space.
func (c *cursor) skip(n int) {
	for n > 0 && c.at < len(c.line) {
		step := 1
		switch c.line[c.at] {
		case ' ':
		case '\t':
			step = 4 - c.column%4
		default:
			return
		}
		if step > n {
			c.column += n
			return
		}
		c.at++
		c.column += step
		n -= step
	}
}

// quote consumes the marker of a block quote that stands at at, after width columns, and a space after it.
func (c *cursor) quote(width, at int) {
	c.at, c.column = at+1, c.column+width+1
	c.skip(1)
}

// item consumes the marker of a list item that stands at at, after width columns.
func (c *cursor) item(width, at, marker int) container {
	c.at, c.column = at+marker, c.column+width+marker
	space, end := c.space()
	empty := end == len(c.line)
	if empty || space > 4 {
		space = 1
	}
	c.skip(space)
	return container{width: int32(width + marker + space), empty: empty}
}
