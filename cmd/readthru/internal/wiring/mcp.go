package wiring

import (
	"log/slog"

	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/releases"
	"github.com/readthru/readthru/mcp"
)

// MCPOptions returns the configured options of the protocol.
func MCPOptions(s *settings.Settings, log *slog.Logger) mcp.Options {
	return mcp.Options{
		Tokens: convert.Tokens[string], Version: releases.Version, UserAgent: s.Fetch.UserAgent, Write: s.MCP.Write,
		Robots: s.MCP.Robots, Log: log,
	}
}
