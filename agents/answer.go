package agents

import (
	"bytes"
	"encoding/json"
)

// Answer is the answer of a hook. The zero Answer is silent.
type Answer struct {
	Message string // for the user
	Context string // for the model, in addition to the tool's answer or the prompt
	Output  string // for the model, instead of the tool's answer
	Deny    string // for the model, instead of running the tool
}

// Encode returns the answer to an event as the agent reads it from a hook's standard output. It returns nil if the
// answer is silent or the agent cannot take it. If plain is set and the answer has only a message, Encode returns the
// message as a line of text if the agent accepts text.
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
		return nil // the tool's answer cannot be encoded again
	}
	return b.Bytes()
}

// claude returns the form of Claude Code, which Codex CLI and VS Code partly share.
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
	case Start:
		if a.Context != "" {
			specific = members("hookEventName", "SessionStart", "additionalContext", a.Context)
		}
	case Prompt:
		if a.Context != "" && agent != VSCode { // VS Code takes no context here
			specific = members("hookEventName", "UserPromptSubmit", "additionalContext", a.Context)
		}
	}
	if len(specific) > 0 {
		out["hookSpecificOutput"] = specific
	}
	return out
}

// gemini returns the answer to an event in the form of Gemini CLI's hooks. It has no field that replaces what a tool
// returned, so that is denied, with the page as the reason.
func (a Answer) gemini(e *Event) map[string]any {
	out := members("systemMessage", a.Message)
	var specific map[string]any
	switch e.Stage {
	case After:
		specific = members("additionalContext", a.Context)
		if len(specific) > 0 {
			specific["hookEventName"] = "AfterTool"
		}
		if a.Output != "" { // what the tool said is hidden, and this is told in its place
			out["decision"], out["reason"] = "deny", a.Output
		}
	case Before:
		if a.Deny != "" {
			out["decision"], out["reason"] = "deny", a.Deny
		}
	case Start:
		if a.Context != "" {
			specific = members("hookEventName", "SessionStart", "additionalContext", a.Context)
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

// cursor returns the answer to an event in the form of Cursor's hooks.
func (a Answer) cursor(e *Event) map[string]any {
	switch {
	case e.Stage == After:
		return members("additional_context", a.Context) // Cursor takes neither a message nor another output
	case e.Stage == Before && a.Deny != "":
		return members("permission", "deny", "agent_message", a.Deny, "user_message", a.Message)
	}
	return nil
}

// members returns an object of an answer to a hook, of name and value pairs, without empty values.
func members(pairs ...string) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			m[pairs[i]] = pairs[i+1]
		}
	}
	return m
}

// replaced returns a tool's answer with another text, in the same form, so that the agent can read it: a text, a list
// of parts, or an object with one of these.
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
