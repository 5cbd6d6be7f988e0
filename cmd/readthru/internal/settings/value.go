package settings

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/strictyaml"
	"github.com/readthru/readthru/page"
)

// Size is a number of bytes. In text its unit is B, KiB, MiB, GiB or TiB; KB, MB, GB and TB are powers of a thousand.
type Size int64

var units = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"KB", 1e3},
	{"B", 1},
	{"", 1},
}

// parseSize parses a size of the configuration: a number with a unit, decimal or binary.
func parseSize(text string) (Size, error) {
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		bytes := n * float64(u.bytes)
		if err != nil || math.IsNaN(n) || n < 0 || bytes >= math.MaxInt64 {
			break
		}
		return Size(bytes), nil
	}
	return 0, fmt.Errorf("%q is not a size: write it like 32MiB or 2GiB", text)
}

// UnmarshalText reads a size from its text.
func (s *Size) UnmarshalText(text []byte) (err error) {
	*s, err = parseSize(string(text))
	return err
}

// String returns the size in the largest binary unit that divides it.
func (s Size) String() string {
	for _, u := range units[:4] {
		if s != 0 && int64(s)%u.bytes == 0 {
			return fmt.Sprintf("%d%s", int64(s)/u.bytes, u.name)
		}
	}
	return fmt.Sprintf("%dB", int64(s))
}

// setText sets a key from the text of an environment variable or a flag. Commas separate the elements of a list of
// texts or numbers; lists of rules and users are YAML.
func (l leaf) setText(text string) error {
	if l.value.Kind() != reflect.Slice {
		return strictyaml.SetText(l.value, text, l.oneof)
	}
	if elem := l.value.Type().Elem(); elem.Kind() == reflect.Struct {
		return strictyaml.DecodeValue([]byte(text), l.value, l.Path)
	}
	list := reflect.MakeSlice(l.value.Type(), 0, 0)
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		v := reflect.New(l.value.Type().Elem()).Elem()
		if err := strictyaml.SetText(v, part, l.oneof); err != nil {
			return err
		}
		list = reflect.Append(list, v)
	}
	l.value.Set(list)
	return nil
}

// plain returns a value as "readthru config" prints it: texts, numbers, booleans and lists of them.
func plain(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case time.Duration:
		return x.String()
	case Size:
		return x.String()
	case *bool:
		if x == nil {
			return "auto"
		}
		return *x
	case []UserConfig:
		names := []string{}
		for _, u := range x {
			names = append(names, u.Name)
		}
		return names
	case []forgeConfig:
		list := []map[string]any{}
		for _, f := range x {
			list = append(list, map[string]any{"url": page.MaskString(f.URL), "kind": f.Kind}) // not the token
		}
		return list
	case []ruleConfig:
		list := []map[string]any{}
		for i := range x {
			m := map[string]any{}
			for _, l := range leavesOf(reflect.ValueOf(&x[i]).Elem(), "") {
				if !l.value.IsZero() {
					m[l.Path] = plain(l.value)
				}
			}
			list = append(list, m)
		}
		return list
	}
	if v.Kind() == reflect.Slice && v.IsNil() {
		return []string{}
	}
	return v.Interface()
}
