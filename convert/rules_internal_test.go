package convert

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestNoRuleIsEmpty holds that no table of rules is empty, and that none has an entry that is: an empty prefix begins
// everything. Only a callout's kind may stand without a prefix.
func TestNoRuleIsEmpty(t *testing.T) {
	for i, table := range ruleTables {
		v := reflect.ValueOf(table)
		name := fmt.Sprintf("table %d, %s, %.40v", i, v.Type(), table)
		switch v.Kind() {
		case reflect.String:
			if strings.TrimSpace(v.String()) == "" {
				t.Errorf("%s is blank", name)
			}
		case reflect.Map:
			if v.Len() == 0 {
				t.Errorf("%s has no rule", name)
			}
			for _, key := range v.MapKeys() {
				if key.IsZero() {
					t.Errorf("%s: the key of %v is empty", name, v.MapIndex(key))
				}
			}
		case reflect.Slice:
			if v.Len() == 0 {
				t.Errorf("%s has no rule", name)
			}
			prefixes, _ := table.([]string)
			ofKinds := slices.Contains(prefixes, "alert--")
			seen := map[string]bool{}
			for j := range v.Len() {
				entry := fmt.Sprint(v.Index(j))
				if v.Index(j).IsZero() && !ofKinds || seen[entry] {
					t.Errorf("%s: entry %d is empty or repeated: %q", name, j, entry)
				}
				seen[entry] = true
			}
		}
	}
}
