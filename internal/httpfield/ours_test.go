package httpfield_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/httpfield"
)

func TestRemoveOurs(t *testing.T) {
	for _, tt := range []struct {
		name    string
		h, want http.Header
	}{
		{
			"our fields",
			http.Header{"X-Readthru-Warning": {"a"}, "X-Readthru-New": {"b"}, "X-Read": {"c"}},
			http.Header{"X-Read": {"c"}},
		},
		{
			"a member of ours beside others",
			http.Header{"Cache-Status": {`edge; hit, readthru; hit; ttl=9, "cdn, inc"; fwd=miss`, "ReadThru;hit"}},
			http.Header{"Cache-Status": {`edge; hit, "cdn, inc"; fwd=miss`}},
		},
		{
			"ours as a string",
			http.Header{"Proxy-Status": {`"readthru"; error=dns_error`}},
			http.Header{},
		},
		{
			"a member that mentions ours",
			http.Header{"Proxy-Status": {`edge; next-hop="readthru, x"`, `readthrough; hit`}},
			http.Header{"Proxy-Status": {`edge; next-hop="readthru, x"`, `readthrough; hit`}},
		},
		{
			"a quoted string without end",
			http.Header{"Cache-Status": {`edge; detail="x`, `readthru; hit`}},
			http.Header{},
		},
		{
			"an escaped quote",
			http.Header{"Cache-Status": {`edge; detail="\", readthru; hit"`}},
			http.Header{},
		},
		{
			"nothing of ours, however malformed",
			http.Header{"Cache-Status": {`"edge`}, "Via": {"1.1 readthru"}},
			http.Header{"Cache-Status": {`"edge`}, "Via": {"1.1 readthru"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			httpfield.RemoveOurs(tt.h)
			if diff := cmp.Diff(tt.want, tt.h); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}
