package main

import (
	"log/slog"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/releases"
	"github.com/readthru/readthru/mcp"
)

// mcpOptions returns the configured options of the protocol.
func mcpOptions(s *settings, log *slog.Logger) mcp.Options {
	return mcp.Options{
		Tokens: convert.Tokens[string], Version: releases.Version, UserAgent: s.Fetch.UserAgent, Write: s.MCP.Write,
		Robots: s.MCP.Robots, Log: log,
	}
}
