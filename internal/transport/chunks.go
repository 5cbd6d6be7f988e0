package transport

// Chunks follows a chunked body (RFC 9112 §7.1) and joins small chunks. net/http reads a body chunk by chunk, and an
// origin that sends single bytes as chunks cost 60 ns for each of them. What is not a small whole chunk passes as it
// is: whether a body is malformed stays for net/http to say.
type chunks struct {
	state  uint8
	size   uint64 // as far as the size was read
	digits int    // of it
	left   uint64 // bytes of the chunk still to come, with its CRLF
}

// The states of chunks: what the next byte belongs to.
const (
	inSize uint8 = iota
	inExtension
	inChunk
	afterLast // trailers, or something malformed: nothing is looked at from here
)

const (
	joinedHead = 5     // "fff\r\n", the size line of joined chunks
	mostJoined = 0xfff // bytes
	joinBuffer = 64 << 10
)

// join joins small chunks in p, in place, and returns how many bytes that leaves.
func (c *chunks) join(p []byte) int {
	out, in := 0, 0
	run, first := -1, byte(0) // where the present joined chunk begins, and the digit of the first one in it
	end := func() {
		if run < 0 {
			return
		}
		data := out - run - joinedHead
		if data <= 0xf && hexValue(first) == uint64(data) { // a single one: as it was
			copy(p[run+3:], p[run+joinedHead:out])
			p[run], p[run+1], p[run+2] = first, '\r', '\n'
			out -= 2
		} else {
			const digits = "0123456789abcdef"
			p[run], p[run+1], p[run+2] = digits[data>>8], digits[data>>4&0xf], digits[data&0xf]
			p[run+3], p[run+4] = '\r', '\n'
		}
		p[out], p[out+1] = '\r', '\n'
		out += 2
		run = -1
	}
	for in < len(p) {
		if c.state == inSize && c.digits == 0 {
			if n := wholeChunk(p[in:]); n > 0 {
				if run >= 0 && out-run-joinedHead+n > mostJoined {
					end()
				}
				if run < 0 {
					run, first = out, p[in]
					out += joinedHead
				}
				if n == 1 {
					p[out] = p[in+3]
				} else {
					copy(p[out:], p[in+3:in+3+n])
				}
				out += n
				in += 3 + n + 2
				continue
			}
		}
		end()
		n := c.pass(p[in:])
		if out != in {
			copy(p[out:], p[in:in+n])
		}
		out += n
		in += n
	}
	end()
	return out
}

// wholeChunk returns the length of the data if p begins with a whole chunk of at most 15 bytes without an extension,
// else 0.
func wholeChunk(p []byte) int {
	if len(p) < 6 || p[1] != '\r' || p[2] != '\n' {
		return 0
	}
	n := int(hexValue(p[0]))
	if n == 0 || n > 0xf || len(p) < 3+n+2 || p[3+n] != '\r' || p[4+n] != '\n' {
		return 0
	}
	return n
}

// hexValue returns the value of a hexadecimal digit in the size of a chunk; 16 for another byte.
func hexValue(b byte) uint64 {
	switch {
	case '0' <= b && b <= '9':
		return uint64(b - '0')
	case 'a' <= b && b <= 'f':
		return uint64(b-'a') + 10
	case 'A' <= b && b <= 'F':
		return uint64(b-'A') + 10
	}
	return 16
}

// pass follows bytes that stay as they are and returns how many it took, at least one.
func (c *chunks) pass(p []byte) int {
	switch c.state {
	case inChunk:
		n := min(c.left, uint64(len(p)))
		if c.left -= n; c.left == 0 {
			*c = chunks{}
		}
		return int(n)
	case afterLast:
		return len(p)
	}
	switch b := p[0]; {
	case b == '\n' && (c.digits == 0 || c.size == 0 || c.size > 1<<62):
		c.state = afterLast
	case b == '\n':
		c.state, c.left = inChunk, c.size+2
	case c.state == inExtension, b == '\r':
	case hexValue(b) < 16 && c.digits < 16:
		c.size, c.digits = c.size<<4|hexValue(b), c.digits+1
	case b == ';' || b == ' ' || b == '\t':
		c.state = inExtension
	default:
		c.state = afterLast
	}
	return 1
}
