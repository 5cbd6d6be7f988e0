// Package inside is linked into a readthru that is measured, and into no other: it notes the stacks that reach the
// program's doors, and hands them and the coverage counters out over HTTP.
package inside

import (
	"bytes"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"runtime/coverage"
	"strings"
	"sync"
	"time"
)

// Visit is one call of a door's function from another package, on the way of a request.
type Visit struct {
	Door  string   // name of the door
	Own   []string // functions of readthru on the stack, the outermost first, the door's last
	Turns int      // goroutines on the way to the door
}

var (
	mu     sync.Mutex
	visits []Visit
)

// Variable names the environment variable with the address at which the measured program is asked.
const Variable = "READTHRU_WAYS_LISTEN"

func init() {
	if addr := os.Getenv(Variable); addr != "" {
		go func() { log.Fatal(serve(addr)) }()
	}
}

func serve(addr string) error {
	http.HandleFunc("/clear", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		visits = nil
		mu.Unlock()
		if r.URL.Query().Get("counters") == "" {
			return
		}
		if err := coverage.ClearCounters(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	http.HandleFunc("/visits", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if err := json.NewEncoder(w).Encode(visits); err != nil {
			log.Print(err)
		}
	})
	http.HandleFunc("/counters", func(w http.ResponseWriter, r *http.Request) {
		dir := r.URL.Query().Get("dir")
		// The counters come first: what runs while the names are written is not of the request.
		if err := coverage.WriteCountersDir(dir); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		} else if err := coverage.WriteMetaDir(dir); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	server := &http.Server{Addr: addr, ReadHeaderTimeout: time.Minute}
	return server.ListenAndServe()
}

// Note keeps the stack of its caller, a function of a door. It leaves out calls from the door's own package, and those
// that no request led to.
func Note(door string) {
	buf := make([]byte, 256<<10)
	buf = buf[:runtime.Stack(buf, false)]
	v := Visit{Door: door}
	var requested bool
	if v.Own, v.Turns, requested = own(buf); !requested ||
		len(v.Own) > 1 && owner(v.Own[len(v.Own)-2]) == owner(v.Own[len(v.Own)-1]) {
		return
	}
	mu.Lock()
	visits = append(visits, v)
	mu.Unlock()
}

// frame matches the line of a traceback that names a function of readthru.
var frame = regexp.MustCompile(`^((?:github.com/readthru/readthru/|main\.).*)\([^()]*\)$`)

// Package fault keeps a panic to the work that had it. It decides nothing, and so its functions do not count, nor the
// literals that they call: these are the rest of the function around them.
const guards = "github.com/readthru/readthru/internal/fault."

// literal matches the name of a function literal.
var literal = regexp.MustCompile(`\.func\d+(\.\d+)*$`)

// own returns the functions of readthru in a traceback with its goroutine's ancestors, the outermost first, from where
// net/http took the request, and over how many goroutines they are spread. requested is false when it took none.
func own(traceback []byte) (functions []string, turns int, requested bool) {
	turns = 1
	for line := range bytes.Lines(traceback) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "net/http.(*conn).serve(") {
			return functions, turns, true
		}
		if strings.HasPrefix(text, "[originating from goroutine ") {
			turns++
		}
		m := frame.FindStringSubmatch(text)
		switch {
		case m == nil || strings.HasPrefix(m[1], "github.com/readthru/readthru/bench/ways/inside."):
		case strings.HasPrefix(m[1], guards):
			if len(functions) > 0 && literal.MatchString(functions[0]) {
				functions = functions[1:]
			}
		default:
			functions = append([]string{m[1]}, functions...)
		}
	}
	return functions, turns, false
}

// owner returns the package of a function.
func owner(function string) string {
	slash := strings.LastIndexByte(function, '/')
	name, _, _ := strings.Cut(function[slash+1:], ".")
	return function[:slash+1] + name
}
