package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	neturl "net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// option is a way to read that asks for something else than a page as it is.
type option struct {
	name string
	read func(d *doors, url string) said
}

// hooked has an agent's hook tell that a tool reads a page.
func (d *doors) hooked(event, url, query string) said {
	d.t.Helper()
	text, err := json.Marshal(object{
		"session_id": "s", "hook_event_name": event, "tool_name": "WebFetch",
		"tool_input": object{"url": url, "prompt": "What?"}, "tool_response": object{"code": 200, "result": "short"},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return d.send(http.DefaultClient, http.MethodPost, "http://"+d.admin+"/api/v1/hooks/claude?"+query, string(text),
		"Content-Type: application/json")
}

// options are all options of all doors that might leave something behind for other readers.
func options(screenshots bool) (list []option) {
	for _, door := range allDoors {
		for n := range door.odds {
			list = append(list, option{fmt.Sprintf("%s, option %d", door.name, n), func(d *doors, url string) said {
				return door.odd(d, url, n)
			}})
		}
	}
	command := func(flags ...string) {
		list = append(list, option{"fetch " + strings.Join(flags, " "), func(d *doors, url string) said {
			return d.command(url, flags...)
		}})
	}
	command("--summary=auto", "--hint=how do I use it")
	command("--receipts")
	command("--max-tokens=5")
	command("--format=html")
	command("--format=prompt")
	command("--render=never", "--no-remote", "--json")
	api := func(name string, o object) {
		list = append(list, option{"API, " + name, func(d *doors, url string) said {
			given := object{"session": "other"}
			maps.Copy(given, o)
			return d.api(url, given)
		}})
	}
	api("usage", object{"summary": "usage"})
	api("api", object{"summary": "api", "hint": "which functions are there", "persist": false})
	api("max_tokens", object{"max_tokens": 3, "receipts": true, "links": "reference", "images": "alt"})
	list = append(list,
		option{"Firecrawl, version 1", func(d *doors, url string) said {
			return d.post("/v1/scrape", object{
				"url": url, "formats": []string{"markdown", "links"}, "excludeTags": []string{"p"},
			})
		}},
		option{"a hook in place of a tool", func(d *doors, url string) said {
			return d.hooked("PreToolUse", url, "max_tokens=5")
		}},
		option{"a hook after a tool", func(d *doors, url string) said {
			return d.hooked("PostToolUse", url, "verbatim=1&max_tokens=5&wait=1m")
		}},
		option{"changes of the API", func(d *doors, url string) said {
			return d.send(http.DefaultClient, http.MethodGet, "http://"+d.admin+"/api/v1/pages/"+
				neturl.PathEscape(url)+"/changes", "")
		}},
	)
	if screenshots {
		api("screenshot", object{"format": "screenshot"})
		api("console", object{"console": true, "wait_for": "h2"})
		list = append(list, option{"Firecrawl, screenshot", func(d *doors, url string) said {
			return d.firecrawl(url, object{"formats": []string{"screenshot"}})
		}})
	}
	return list
}

// TestOptionsOfOneReaderChangeNothingForOthers reads a page by each door as it is, then with some options by other
// doors, and then as it is again, and for each option a page that is first read with it: the answers are the same to
// the byte.
func TestOptionsOfOneReaderChangeNothingForOthers(t *testing.T) {
	var text strings.Builder
	for i, word := range []string{"quokka", "zeppelin", "harbour", "lichen"} {
		fmt.Fprintf(&text, `<h2 id="%s">The %s</h2><p>%s <a href="/see/%s">see %s</a>. <img src="/i/%d.png" alt="a %s"></p>`,
			word, word, strings.Repeat("A sentence about a "+word+" that says a little more. ", 6), word, word, i, word)
	}
	web := newWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/page/") {
			http.NotFound(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		rw.Header().Set("Cache-Control", "max-age=86400")
		_, _ = fmt.Fprintf(rw, `<!doctype html><title>Four words</title><main><h1>Four words</h1>%s`+
			`<p style="display:none">What nobody sees.</p></main>`, &text)
	}))
	chromium, _ := exec.LookPath("chromium")
	more := []string{"READTHRU_RENDER_MODE=auto"}
	if chromium == "" {
		more = []string{"READTHRU_RENDER_MODE=never"}
	}
	d := openDoors(serveIn(t, web, t.TempDir(), more...))
	plain := map[string]said{} // by door
	read := func(url, when string) {
		t.Helper()
		for _, door := range allDoors {
			got := door.read(d, url, false)
			got.text = strings.ReplaceAll(got.text, url, "URL")
			want, known := plain[door.name]
			if !known {
				plain[door.name], want = got, got
			}
			if got != want {
				t.Errorf("%s: the %s answers otherwise than before:\n%d %s\nwant\n%d %s", when, door.name, got.status, got.text,
					want.status, want.text)
			}
			if got.status != http.StatusOK || !strings.Contains(got.text, "zeppelin") {
				t.Errorf("%s: the %s answers %d %s", when, door.name, got.status, got.text)
			}
		}
	}
	read("https://a.test/page/first", "at first")
	n := 0
	for some := range slices.Chunk(options(chromium != ""), 4) {
		known, names := fmt.Sprintf("https://a.test/page/known-%d", n), ""
		read(known, "before options")
		for _, o := range some {
			if got := o.read(d, known); got.status >= 400 || got.status < 200 {
				t.Errorf("%s: %d %s", o.name, got.status, got.text)
			}
			names += ", " + o.name
		}
		read(known, "after"+names)
		for _, o := range some {
			fresh := fmt.Sprintf("https://a.test/page/fresh-%d", n)
			o.read(d, fresh)
			read(fresh, "first "+o.name)
			n++
		}
		if t.Failed() {
			return
		}
	}
}
