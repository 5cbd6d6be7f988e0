package pdf

import (
	"bytes"
	"compress/flate"
	"encoding/ascii85"
	"io"
	"slices"
)

// decode returns the data of a stream with its filters undone (§7.4). Of damaged data it returns what could be read,
// and sets cut. It returns nothing for pictures. Nothing is kept: a form that is drawn twice is decoded twice. A stream
// with more than eight filters has no data.
func (r *pdfReader) decode(s *stream) []byte {
	r.step()
	data := s.raw
	r.spend(len(data) / stepBytes)
	if r.crypt != nil && s.at.num != 0 && s.dict["Type"] != name("XRef") {
		data = r.crypt.stream(data, s.at)
	}
	var filters, parameters []any
	switch f := r.resolve(first(s.dict, "Filter", "F")).(type) {
	case name:
		filters, parameters = []any{f}, []any{first(s.dict, "DecodeParms", "DP")}
	case []any:
		filters = f
		parameters, _ = r.resolve(first(s.dict, "DecodeParms", "DP")).([]any)
	}
	if len(filters) > 8 {
		return nil
	}
	for i, f := range filters {
		var p dict
		if i < len(parameters) {
			p = r.dict(parameters[i])
		}
		data = r.filter(r.name(f), data, p)
		r.spend(len(data) / stepBytes)
	}
	return data
}

// first returns, for a filter of a stream, the entry of a dictionary under the first of keys that it has: decode takes
// the short names of inline images, too.
func first(d dict, keys ...name) any {
	for _, k := range keys {
		if v, ok := d[k]; ok {
			return v
		}
	}
	return nil
}

// filter undoes one filter of a stream (§7.4), with its parameters p. It returns nil for codings of pictures, and for
// filters that are not known.
func (r *pdfReader) filter(f name, data []byte, p dict) []byte {
	switch f {
	case "FlateDecode", "Fl":
		return r.predict(r.inflate(data), p)
	case "LZWDecode", "LZW":
		early := 1
		if v, ok := r.resolve(p["EarlyChange"]).(float64); ok {
			early = int(v)
		}
		return r.predict(r.take(func(limit int) []byte { return lzw(data, early, limit) }), p)
	case "ASCII85Decode", "A85":
		return r.readAll(ascii85.NewDecoder(bytes.NewReader(ascii85Text(data))))
	case "ASCIIHexDecode", "AHx":
		return r.take(func(limit int) []byte {
			l := lexer{b: data}
			return l.digits(limit)
		})
	case "RunLengthDecode", "RL":
		return r.take(func(limit int) []byte { return runLength(data, limit) })
	case "Crypt":
		return data
	}
	return nil // a picture's coding, or one not known
}

// take runs a filter's decoder within the bytes that may still be decoded, and counts its output. limit is the most
// bytes that the decoder may give; output that reaches it counts as cut.
func (r *pdfReader) take(decode func(limit int) []byte) []byte {
	limit := min(maxStream, r.left)
	out := decode(limit)
	r.left -= len(out)
	if len(out) >= limit {
		r.cut = true
	}
	return out
}

// readAll reads a filter's decompressor of a stream to its end, or to the limit. It works in pieces of 1 MiB, between
// which it looks at the context. Damage ends the data early, and is noted in cut.
func (r *pdfReader) readAll(in io.Reader) []byte {
	return r.take(func(limit int) []byte {
		var out bytes.Buffer
		for out.Len() < limit {
			n, err := io.CopyN(&out, in, int64(min(limit-out.Len(), 1<<20)))
			r.step()
			if cause := r.ctx.Err(); cause != nil {
				panic(halt{cause})
			}
			if err != nil || n == 0 {
				if err != io.EOF { //nolint:errorlint // CopyN returns it bare
					r.cut = true
				}
				break
			}
		}
		return out.Bytes()
	})
}

// inflate undoes the filter Flate: it decompresses zlib data. Damaged files sometimes lack its header; its checksum is
// ignored. That is why flate reads them and not zlib, which would refuse the whole stream.
func (r *pdfReader) inflate(data []byte) []byte {
	for len(data) > 0 && classes[data[0]] == space && data[0] != 0 {
		data = data[1:]
	}
	if len(data) > 2 && data[0]&0x0f == 8 && (int(data[0])<<8|int(data[1]))%31 == 0 {
		data = data[2:]
	}
	return r.readAll(flate.NewReader(bytes.NewReader(data)))
}

// ascii85Text prepares the filter ASCII85: it cuts data at the end marker and drops bytes that are not digits. The
// decoder of the standard library refuses data with other bytes in them.
func ascii85Text(data []byte) []byte {
	data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("<~"))
	if i := bytes.IndexByte(data, '~'); i >= 0 {
		data = data[:i]
	}
	return bytes.Map(func(c rune) rune {
		if c >= '!' && c <= 'u' || c == 'z' {
			return c
		}
		return -1
	}, data)
}

// predict undoes, after a filter, the predictors of PNG and TIFF (§7.4.4.4). They change bytes into differences from
// their neighbours, and stand behind Flate and LZW alone. Cross-reference streams nearly always have that of PNG.
// TIFF's is undone for whole bytes only. It returns nil for sizes that no picture and no table has; a last row that is
// too short is kept.
func (r *pdfReader) predict(data []byte, p dict) []byte {
	kind := int(r.number(p["Predictor"]))
	if kind < 2 {
		return data
	}
	number := func(key name, otherwise int) int {
		if v, ok := r.resolve(p[key]).(float64); ok {
			return int(v)
		}
		return otherwise
	}
	colors, bits, columns := number("Colors", 1), number("BitsPerComponent", 8), number("Columns", 1)
	if colors < 1 || colors > 32 || bits < 1 || bits > 16 || columns < 1 || columns > 1<<20 {
		return nil
	}
	pixel, row := max(1, colors*bits/8), (colors*bits*columns+7)/8
	// Each sample of TIFF's is a difference from the one to its left.
	if kind == 2 {
		if bits == 8 {
			for at := 0; at+row <= len(data); at += row {
				for i := at + pixel; i < at+row; i++ {
					data[i] += data[i-pixel]
				}
			}
		}
		return data
	}
	// Each row of PNG's begins with a byte that says which neighbours its bytes are differences from.
	out := make([]byte, 0, len(data))
	above := make([]byte, min(row, len(data)))
	for len(data) > 1 {
		method := data[0]
		line := data[1:min(len(data), row+1)]
		data = data[len(line)+1:]
		for i := range line {
			var left, corner byte
			if i >= pixel {
				left, corner = line[i-pixel], above[i-pixel]
			}
			switch method {
			case 1:
				line[i] += left
			case 2:
				line[i] += above[i]
			case 3:
				line[i] += byte((int(left) + int(above[i])) / 2)
			case 4:
				line[i] += paeth(left, above[i], corner)
			}
		}
		out = append(out, line...)
		if len(line) < row {
			break
		}
		above = line
	}
	return out
}

// paeth is PNG's predictor of that name, for a filter: of left, above and upper left, the one nearest to a + b - c.
func paeth(a, b, c byte) byte {
	p := int(a) + int(b) - int(c)
	pa, pb, pc := distance(int(a), p), distance(int(b), p), distance(int(c), p)
	switch {
	case pa <= pb && pa <= pc:
		return a
	case pb <= pc:
		return b
	}
	return c
}

// distance returns how far a value is from the one that a filter predicted.
func distance(n, predicted int) int { return max(n-predicted, predicted-n) }

// lzw undoes the filter LZW as TIFF and PDF write it: codes of 9 to 12 bits, the longest first bit first, whose width
// grows one code early unless early is 0. It stops at the first code that cannot be, and at limit bytes.
func lzw(data []byte, early, limit int) []byte {
	const clear, end = 256, 257
	var table [4096][]byte
	for i := range 256 {
		table[i] = []byte{byte(i)}
	}
	var out []byte
	next, width, bits, held := 258, 9, 0, 0
	var previous []byte
	for _, c := range data {
		// held has the bits that no code has taken yet.
		held, bits = held<<8|int(c), bits+8
		if bits < width {
			continue
		}
		bits -= width
		code := held >> bits & (1<<width - 1)
		held &= 1<<bits - 1
		if code == clear {
			next, width, previous = 258, 9, nil
			continue
		}
		if code == end {
			break
		}
		var entry []byte
		switch {
		case code < next && table[code] != nil:
			entry = table[code]
		case code == next && previous != nil:
			entry = slices.Concat(previous, previous[:1])
		default:
			return out
		}
		if len(out)+len(entry) > limit {
			return out
		}
		start := len(out)
		out = append(out, entry...)
		// Every code but the first adds an entry: the text before and the first byte of this one.
		if previous != nil && next < 4096 {
			table[next] = slices.Concat(previous, entry[:1])
			next++
		}
		previous = slices.Clip(out[start:])
		if width < 12 && next+early >= 1<<width {
			width++
		}
	}
	return out
}

// runLength undoes the filter of that name (§7.4.5): a length below 128 copies the next bytes, one above repeats the
// next byte, and 128 ends the data.
func runLength(data []byte, limit int) []byte {
	var out []byte
	for len(data) > 1 && data[0] != 128 && len(out) < limit {
		n := int(data[0])
		if n < 128 {
			n = min(n+1, len(data)-1)
			out = append(out, data[1:1+n]...)
			data = data[1+n:]
			continue
		}
		out = append(out, bytes.Repeat(data[1:2], 257-n)...)
		data = data[2:]
	}
	return out
}
