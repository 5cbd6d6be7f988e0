package agents

import (
	"bytes"
	"encoding/json"
)

// Answer is what a hook says. The zero Answer says nothing.
type Answer struct {
	Message string // to the user
	Context string // to the model, beside what it is told already
	Output  string // to the model, in place of what the tool answered
	Deny    string // to the model, in place of running the tool
}

// Encode returns the answer to an event in the form that an agent reads from a hook's standard output; nothing where
// there is nothing to say, or the agent has no way to be told. When plain is set and a message is all there is, the
// message comes as a line of text, where the agent takes text.
func (a Answer) Encode(agent Agent, e *Event, plain bool) []byte {
	if plain && agent == Claude && !e.strict && a.Message != "" && a == (Answer{Message: a.Message}) {
		return []byte(a.Message + "\n")
	}
	var out map[string]any
	switch agent {
	case Gemini:
		out = a.gemini(e)
	case Cursor:
		out = a.cursor(e)
	case OpenCode:
		out = members("message", a.Message, "context", a.Context, "output", a.Output, "deny", a.Deny)
	default:
		out = a.claude(agent, e)
	}
	if len(out) == 0 {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil // an answer of the tool's that cannot be written again
	}
	return b.Bytes()
}

// claude is the form of Claude Code, which Codex CLI and VS Code share in part.
func (a Answer) claude(agent Agent, e *Event) map[string]any {
	out := members("systemMessage", a.Message)
	var specific map[string]any
	switch e.Stage {
	case After:
		specific = members("additionalContext", a.Context)
		if a.Output != "" && agent == Claude {
			specific["updatedToolOutput"] = replaced(e.response, a.Output)
		}
		if len(specific) > 0 {
			specific["hookEventName"] = "PostToolUse"
		}
		if a.Message != "" && agent != VSCode {
			out["suppressOutput"] = true
		}
	case Before:
		if a.Deny != "" {
			specific = members("hookEventName", "PreToolUse", "permissionDecision", "deny", "permissionDecisionReason", a.Deny)
		}
	case Prompt:
		if a.Context != "" && agent != VSCode { // which takes none here
			specific = members("hookEventName", "UserPromptSubmit", "additionalContext", a.Context)
		}
	}
	if len(specific) > 0 {
		out["hookSpecificOutput"] = specific
	}
	return out
}

func (a Answer) gemini(e *Event) map[string]any {
	out := members("systemMessage", a.Message)
	var specific map[string]any
	switch e.Stage {
	case After:
		specific = members("additionalContext", a.Context, "tool_output", a.Output)
		if len(specific) > 0 {
			specific["hookEventName"] = "AfterTool"
		}
	case Before:
		if a.Deny != "" {
			out["decision"], out["reason"] = "deny", a.Deny
		}
	case Prompt:
		if a.Context != "" {
			specific = members("hookEventName", "BeforeAgent", "additionalContext", a.Context)
		}
	}
	if len(specific) > 0 {
		out["hookSpecificOutput"] = specific
	}
	return out
}

func (a Answer) cursor(e *Event) map[string]any {
	switch {
	case e.Stage == After:
		return members("additional_context", a.Context) // it has no place for messages, nor for another output
	case e.Stage == Before && a.Deny != "":
		return members("permission", "deny", "agent_message", a.Deny, "user_message", a.Message)
	}
	return nil
}

// members makes an object of name and value pairs, empty values left out.
func members(pairs ...string) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			m[pairs[i]] = pairs[i+1]
		}
	}
	return m
}

// replaced returns a tool's answer with another text in it, in the same form: the agent reads it as the tool's own.
func replaced(answer json.RawMessage, text string) any {
	part := []any{members("type", "text", "text", text)}
	answer = bytes.TrimSpace(answer)
	if len(answer) == 0 {
		return text
	}
	switch answer[0] {
	case '[':
		return part
	case '{':
		var m map[string]json.RawMessage
		if json.Unmarshal(answer, &m) != nil {
			return text
		}
		out := map[string]any{}
		for name, v := range m {
			out[name] = v
		}
		switch {
		case len(m["content"]) > 0 && m["content"][0] == '[':
			out["content"] = part
		case m["text"] != nil && m["result"] == nil:
			out["text"] = text
		default:
			out["result"] = text
		}
		return out
	}
	return text
}
