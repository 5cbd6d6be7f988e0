package agents_test

import (
	"regexp"
	"testing"

	"github.com/readthru/readthru/agents"
)

func TestInstructionsNameNoTool(t *testing.T) { // rule C9
	tool := regexp.MustCompile(`(?i)\w+_\w+|\b(webfetch|websearch|fetch|mcp|readthru)\b`)
	if name := tool.FindString(agents.Instructions); name != "" {
		t.Errorf("the instructions name %q, want no tool", name)
	}
}
