package server_test

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
)

func TestViewsAreSavedCheckedAndRemoved(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	names := func() (list []string) {
		t.Helper()
		views, err := w.client.Views(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range views.Views {
			if _, err := w.client.Requests(ctx, api.RequestQuery{Filter: v.Filter}); err != nil {
				t.Errorf("%s: %v", v.Name, err)
			}
			list = append(list, v.Name)
		}
		return list
	}
	first := names()
	if want := "what failed, what was slow, what left this machine, what was tunnelled, "; !strings.HasPrefix(
		strings.Join(first, ", "), want) {
		t.Errorf("views: %q, want first %q", first, want)
	}
	made, err := w.client.SaveView(ctx, api.NewView{Name: " <b>mine & yours</b> ", Filter: " host:a.test "})
	if err != nil || made.Name != "<b>mine & yours</b>" || made.Filter != "host:a.test" || made.ID == "" {
		t.Fatalf("saved: %v, %+v", err, made)
	}
	if list := names(); len(list) != len(first)+1 || list[len(first)] != made.Name {
		t.Errorf("views: %q", list)
	}
	for _, bad := range []api.NewView{
		{},
		{Name: "x"},
		{Filter: "x"},
		{Name: "x", Filter: "colour:red"},
		{Name: "a\nb", Filter: "x"},
		{Name: "a\u202eb", Filter: "x"},
		{Name: strings.Repeat("ü", 61), Filter: "x"},
		{Name: "x", Filter: strings.Repeat("x ", 501)},
	} {
		if _, err := w.client.SaveView(ctx, bad); api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("%.20q of %.20q: %v", bad.Name, bad.Filter, err)
		}
	}
	if _, err := w.client.SaveView(ctx, api.NewView{Name: "What Failed", Filter: "x"}); err == nil {
		t.Error("a view that is always there is replaced")
	}
	if _, err := w.client.DeleteView(ctx, made.ID); err != nil {
		t.Error(err)
	}
	if _, err := w.client.DeleteView(ctx, made.ID); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("one that is gone: %v", err)
	}
	if list := names(); len(list) != len(first) {
		t.Errorf("views: %q", list)
	}
}
