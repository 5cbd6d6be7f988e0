package mcp

import "github.com/readthru/readthru/api"

// Budgets of one result, in tokens as [Options.Tokens] counts them. Clients warn of results over 10,000 tokens and
// refuse those over 25,000; the count is off by up to a tenth.
const (
	usualTokens = 8_000  // of a result by default
	mostTokens  = 20_000 // of a result whose caller asks for more
)

// cut returns the beginning of a text that has at most so many tokens. Pages are cut where they are read, so that the
// list of requests says what an agent got of them.
func (s *Server) cut(whole string, tokens int) api.Piece {
	return api.CutPiece(whole, 0, 0, tokens, s.o.Tokens)
}
