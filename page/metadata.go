package page

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Metadata is what the author of an ingested text says about it. A value is a string, a bool or a [json.Number].
type Metadata map[string]any

// UnmarshalJSON reads an object of strings, numbers and booleans. It drops members that are null.
func (m *Metadata) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		return err
	}
	for name, value := range all {
		switch value.(type) {
		case string, bool, json.Number:
		case nil:
			delete(all, name)
		default:
			return fmt.Errorf("metadata %q is not a string, a number or a boolean", name)
		}
	}
	*m = all
	return nil
}

// JSONSchema describes its JSON form.
func (m Metadata) JSONSchema() map[string]any {
	return map[string]any{
		"type": "object", "additionalProperties": map[string]any{"type": []string{"string", "number", "boolean"}},
	}
}
