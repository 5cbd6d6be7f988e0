package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// Secrets of every kind, in every place of a request, leave no trace in the store: not in a page, a visit, the index,
// a stored response, nor anywhere else in a backup whose records are decompressed.
func TestNoSecretIsStored(t *testing.T) {
	const canary = "k7Qx2mZp9Rt4Vw6Y" // random, as secrets are; each place has its own suffix
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if strings.HasSuffix(r.URL.Path, ".json") {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Vary", "X-Api-Key, Cookie, Authorization")
			w.Header().Set("Set-Cookie", "sid="+canary+"setcookie")
			_, _ = io.WriteString(w, `{"plain": "data"}`)
			return
		}
		_, _ = io.WriteString(w, "<title>Account</title><h1>Account</h1><p>Balance of the one who asks: plenty.</p>")
	}))
	t.Cleanup(origin.Close)
	c, client := startCore(t)
	places := []struct{ target, field string }{
		{"/plain", ""},
		{"/data.json", "X-Api-Key: " + canary + "jsonkey"},
		{"/data.json", "Cookie: s=" + canary + "jsoncookie"},
		{"/data.json", ""},
		{"/?token=" + canary + "query", ""},
		{"/?q=1;sig=" + canary + "semicolon", ""},
		{"/a;jsessionid=" + canary + "matrix/b", ""},
		{"/a/(S(" + canary + "asp))/b", ""},
		{"/v/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + canary + "jwt", ""},
		{"/reset/" + canary + "reset", ""},
		{"/share/" + canary + "share/view", ""},
		{"/document/d/" + canary + "3Fg7Hj1Kx/edit", ""},
		{"/x/ghp_" + canary + "github", ""},
	}
	for _, name := range []string{
		"Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "Private-Token", "Cf-Access-Client-Secret",
		"X-Amz-Security-Token", "Proxy-Authorization", "Unheard-Of",
	} {
		places = append(places, struct{ target, field string }{"/with-" + strings.ToLower(name), name + ": " + canary + name})
	}
	for _, p := range places {
		for _, accept := range []string{"*/*", "text/html", "text/markdown"} {
			read(t, client, origin.URL+p.target, "Accept: "+accept, p.field)
		}
		u, err := url.Parse(strings.Replace(origin.URL, "://", "://me:"+canary+"userinfo@", 1) + p.target + "#token=" +
			canary + "fragment")
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.fetcher.Page(t.Context(), fetch.Request{URL: u, Own: true, Session: "work"})
		if err != nil {
			t.Fatal(err)
		}
		if answer.Response != nil {
			_ = answer.Response.Body.Close() // the content does not matter
		}
	}
	if err := c.store.Flush(); err != nil {
		t.Fatal(err)
	}
	for target, text := range pagesOf(t, c.store) {
		if strings.Contains(target+text, canary) {
			t.Errorf("a page: %s\n%s", target, text)
		}
	}
	visits, _, err := c.store.Visits(store.VisitQuery{Limit: 1000})
	if err != nil || len(visits) == 0 {
		t.Errorf("%d visits, %v", len(visits), err)
	}
	if all := fmt.Sprint(visits); strings.Contains(all, canary) {
		t.Errorf("visits: %s", all)
	}
	found, err := c.knowledge.Search(t.Context(), knowledge.Query{Text: "balance account plenty", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	if all := fmt.Sprintf("%+v", found); strings.Contains(all, canary) {
		t.Errorf("search: %s", all)
	}
	var backup bytes.Buffer
	if err := c.store.Backup(&backup); err != nil {
		t.Fatal(err)
	}
	text := unpacked(t, backup.Bytes())
	if !bytes.Contains(text, []byte("Balance of the one")) || !bytes.Contains(text, []byte(origin.URL+"/plain")) {
		t.Error("the backup is not read as it should be: it lacks the plain page")
	}
	for {
		_, after, ok := bytes.Cut(text, []byte(canary))
		if !ok {
			break
		}
		t.Errorf("in the backup: %q", after[:min(len(after), 30)])
		text = after
	}
}

// unpacked returns the content of a backup, as it is and with every compressed record in it decompressed.
func unpacked(t *testing.T, backup []byte) []byte {
	t.Helper()
	_, framed, ok := bytes.Cut(backup, []byte("\n"))
	if !ok {
		t.Fatal("no backup")
	}
	var content []byte
	for len(framed) >= 12 {
		n := int(binary.BigEndian.Uint32(framed))
		content = append(content, framed[12:12+n]...)
		framed = framed[12+n:]
	}
	text := bytes.Clone(content)
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	for rest := content; ; {
		at := bytes.Index(rest, magic)
		if at < 0 {
			return text
		}
		rest = rest[at:]
		if d, err := zstd.NewReader(bytes.NewReader(rest), zstd.WithDecoderConcurrency(1)); err == nil {
			record, _ := io.ReadAll(d) // what follows the frame is an error
			text = append(text, record...)
			d.Close()
		}
		rest = rest[len(magic):]
	}
}
