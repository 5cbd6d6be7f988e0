package api

// OrEmpty returns a list, or an empty one in the place of nil, which JSON writes as null.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// ExplainLine is one step of why a stored response is or is not reused.
type ExplainLine struct {
	Section string `json:"section,omitempty"` // of RFC 9111; none for a heading and for a conclusion
	Text    string `json:"text"`
}
