package outline

import "testing"

func TestAlike(t *testing.T) {
	for _, tt := range []struct {
		title, name string
		term        bool
		want        int
	}{
		{"functools.lru_cache(maxsize=128)", "functools.lru_cache", true, sameName},
		{"@functools.lru_cache(user_function)", "lru_cache", true, qualifiedMore},
		{"class Queue(maxsize=0)", "asyncio.Queue", true, qualifiedLess},
		{"class Queue(maxsize=0)", "queue", true, otherCase},
		{"-n, --lines[=<count>]", "--lines", true, sameName},
		{"--[no-]edit", "--edit", true, sameName},
		{"--diff-merges=(off|on)", "--diff-merges", true, sameName},
		{"--onto <newbase>", "--onto", true, sameName},
		{"PyObject *PyDict_New(void)", "PyDict_New", true, sameName},
		{"max_size: int", "max_size", true, sameName},
		{"std::vector::push_back(value)", "std.vector.push_back", true, sameName},
		{"fs.readFile(path[, options], callback)", "fs.readFile", false, sameName},
		{"Class: net.SocketAddress", "net.SocketAddress", false, sameName},
		{"useEffect", "useEffect", false, sameName},
		{"PowerShell 7.2", "PowerShell", false, 0}, // what follows is no signature
		{"How to call fs.readFile()", "fs.readFile", false, 0},
		{"lru_cache_clear()", "lru_cache", true, 0},
		{"cached", "cache", true, 0},
		{"", "x", true, 0},
		{"(x)", "x", true, 0},
	} {
		if got := alike(tt.title, tt.name, tt.term); got != tt.want {
			t.Errorf("alike(%q, %q) = %d, want %d", tt.title, tt.name, got, tt.want)
		}
	}
}

func FuzzAlike(f *testing.F) {
	f.Add("class Queue(maxsize=0)", "asyncio.Queue")
	f.Add("-n, --lines[=<count>]", "--lines")
	f.Fuzz(func(t *testing.T, title, name string) {
		name = Qualified(name)
		alike(title, name, true)
		alike(title, name, false)
		MayDefine([]byte(title), []string{name})
	})
}
