package api

// ExplainLine is one step of why a stored response is or is not reused.
type ExplainLine struct {
	Section string `json:"section,omitempty"` // of RFC 9111; none for a heading and for a conclusion
	Text    string `json:"text"`
}
