package httpfield_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/httpfield"
)

func TestVaryIsMerged(t *testing.T) { // RFC 9110 §12.5.5
	for _, tt := range []struct{ have, want []string }{
		{nil, []string{"Accept"}},
		{[]string{"Cookie, Accept-Language"}, []string{"Cookie, Accept-Language", "Accept"}},
		{[]string{"accept"}, []string{"accept"}},
		{[]string{"Cookie", "Origin,  ACCEPT"}, []string{"Cookie", "Origin,  ACCEPT"}},
		{[]string{"*"}, []string{"*"}},
	} {
		h := http.Header{}
		for _, v := range tt.have {
			h.Add("Vary", v)
		}
		httpfield.AddVary(h, "Accept")
		if diff := cmp.Diff(tt.want, h["Vary"]); diff != "" {
			t.Errorf("Vary of %q (-want +got):\n%s", tt.have, diff)
		}
	}
}
