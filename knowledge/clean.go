package knowledge

// Clean returns markdown without what no reader sees, as the knowledge keeps it: see [Options].
func (k *Knowledge) Clean(md string) string { return string(k.cleaner.Markdown([]byte(md))) }

// cleanLine returns a title, a label or another text that is not markdown as it is kept.
func (k *Knowledge) cleanLine(s string) string { return k.cleaner.Line(s) }
