package server_test

import (
	"io"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
)

func TestTheIndexListsAllPathsAsText(t *testing.T) {
	resp := ask(t, newWorld(t, nil).listen(t), "GET", "/", "")
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); got != "text/plain; charset=utf-8" {
		t.Errorf("it is %s", got)
	}
	for _, o := range api.Operations {
		if !strings.Contains(string(b), o.Path+" "+o.Summary+"\n") && !strings.HasPrefix(o.Path, "/v") {
			t.Errorf("%s is missing in %.300s", o.Path, b)
		}
	}
}
