package mcp

// The budgets of results.
const (
	UsualTokens = usualTokens
	MostTokens  = mostTokens
)
