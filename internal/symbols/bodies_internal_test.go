package symbols

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestBodiesAreCut(t *testing.T) {
	long := "\n\tTable *t = open(path);\n\tt->close(1, (Row) x); /* } */ puts(\"}\\\"\"); if (c == '}') {}\n"
	for _, tt := range []struct {
		name, text, want string
		java             bool
		refers           string
	}{
		{"a function", "int f(int a)\n{" + long + "}\nint g;", "int f(int a)\n{}\nint g;", false, "Row Table close open puts"},
		{"a method", "class A : B<int> {\npublic:\n\tint f() const noexcept {" + long + "}\n};", "class A : B<int> {\npublic:\n\tint f() const noexcept {}\n};", false, "Row Table close open puts"},
		{"a short one", "int f(void) { return 1; }", "int f(void) { return 1; }", false, ""},
		{"a structure", "struct __attribute__((packed)) s {\n\tint a_long_name, another_long_name, and_more;\n};", "", false, ""},
		{"an attribute before the brace", "struct s __attribute__((packed)) {\n\tint a_long_name, another_long_name, and_more;\n};", "", false, ""},
		{"a namespace", "namespace a {\nint f() {" + long + "}\n}", "namespace a {\nint f() {}\n}", false, "Row Table close open puts"},
		{"branches with one brace each", "int f(int a)\n{\n#ifdef A\n\tif (a) {\n#else\n\tif (!a) {\n#endif\n\t\treturn g(a);\n\t}\n}\nint h;", "int f(int a)\n{}\nint h;", false, "g"},
		{"a conditional that ends in a body", "#ifdef A\nint f(int a)\n{\n#else\nint f(long a)\n{\n#endif\n\treturn g(a) + g(a) + g(a);\n}\nint h;", "", false, ""},
		{"one that is never closed", "int f(int a)\n{\n\treturn g(a) + g(a) + g(a) + g(a);\n", "", false, ""},
		{"what a variable holds", "static const struct o all[] = {\n\t{\"one\", Make(1)}, {\"two\", Make(2)}, {\"three\"}\n};", "static const struct o all[] = {};", false, "Make"},
		{"a raw string", "int f(int a)\n{\n\tputs(R\"x(}\" })x\"); return 1 + 2 + 3 + 4;\n}\nint g;", "int f(int a)\n{}\nint g;", false, "puts"},
		{"Java", "class A {\n\tvoid f() throws B, c.D {\n\t\tvar s = \"\"\"\n}\"\"\"; new E<F>().g(h::i);\n\t}\n}", "class A {\n\tvoid f() throws B, c.D {}\n}", true, "E F g i"},
		{"constants with bodies", "enum A {\n\tB(1) { int f() { return 1; } int another() { return 2; } },\n\tC(2) {};\n}", "", true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &source{references: map[string]uses{}}
			k := withoutBodies([]byte(tt.text), tt.java, s)
			want := tt.want
			if want == "" {
				want = tt.text
			}
			if string(k.text) != want {
				t.Errorf("got\n%s\nwant\n%s", k.text, want)
			}
			if got := strings.Join(slices.Sorted(maps.Keys(s.references)), " "); got != tt.refers {
				t.Errorf("refers to %q, want %q", got, tt.refers)
			}
			if u := s.references["close"]; u.n > 0 && u.way != usedOf {
				t.Errorf("close is used as %v", u)
			}
			for i := range k.text { // the line of each byte that is kept
				m := []match{{nameStart: i, line: strings.Count(string(k.text[:i]), "\n")}}
				k.restore(m)
				rest := string(k.text[i:])
				if !strings.Contains(rest, "{}") && strings.HasSuffix(tt.text, rest) {
					if want := strings.Count(tt.text[:len(tt.text)-len(rest)], "\n"); m[0].line != want {
						t.Errorf("byte %d is in line %d, want %d", i, m[0].line, want)
					}
				}
			}
		})
	}
}

// TestBodiesWithoutEndsTakeNoLonger holds that the work on a file grows with its length.
func TestBodiesWithoutEndsTakeNoLonger(t *testing.T) {
	for _, part := range []string{
		"a b(){", "#if 1\na b(){", "a b(", "a b()={", "\"", "R\"(", "/*", "a b(){}\n#else\n", "a#",
	} {
		s := &source{references: map[string]uses{}}
		text := []byte(strings.Repeat(part, maxFile/len(part)))
		b := &bodies{lexer: lexer{text: text}, s: s}
		for {
			if _, _, ok := b.next(); !ok {
				break
			}
		}
		if b.vain > 6*len(text) {
			t.Errorf("%q: %d bytes were read in vain", part, b.vain)
		}
	}
}
