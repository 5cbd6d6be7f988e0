package sites

import (
	"reflect"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/hostrule"
)

// TestTheAPIHasAllThatARuleSays fills each field of a rule, so that a further field is not lost on its way through the
// API, in either direction, or when it is written in words.
func TestTheAPIHasAllThatARuleSays(t *testing.T) {
	said := map[string]bool{}
	for i := range reflect.TypeFor[hostrule.Rule]().NumField() {
		var r hostrule.Rule
		switch f := reflect.ValueOf(&r).Elem().Field(i).Addr().Interface().(type) {
		case *string:
			*f = "x"
		case *bool:
			*f = true
		case *time.Duration:
			*f = time.Hour
		case *[]string:
			*f = []string{"x", "y"}
		default:
			t.Fatalf("a field of type %T", f)
		}
		name := reflect.TypeFor[hostrule.Rule]().Field(i).Name
		fields := fieldsOf(r)
		if back, err := ruleOf(fields); err != nil || !reflect.DeepEqual(back, r) {
			t.Errorf("%s: %+v comes back as %+v, %v", name, r, back, err)
		}
		says := fields.Says()
		if where := name == "Host" || name == "Path"; where != (says == "") || says != "" && said[says] {
			t.Errorf("%s: the rule says %q", name, says)
		}
		said[says] = true
	}
}
