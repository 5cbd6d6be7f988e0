package agents

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/page"
)

// Stage says when a hook runs.
type Stage int

// The stages.
const (
	After  Stage = iota // a tool has answered
	Before              // a tool is about to run
	Prompt              // the user has sent a message
	Start               // a session begins
)

// Event is an event that an agent reports to a hook: a tool for web pages or documentation runs or has run, the user
// has sent a message, or a session begins.
type Event struct {
	Stage   Stage
	Tool    string   // the agent's name of the tool; empty for a prompt
	URLs    []string // http and https URLs that the tool reads or the user names, without duplicates
	Library *Library // the library of a documentation tool; nil for other tools
	Text    string   // the text of the tool's answer
	Session string   // the agent's name of the session

	response json.RawMessage
	strict   bool // the event has a form to which only JSON is an answer
}

const (
	maxURLs       = 20 // per event; Gemini CLI takes so many in one call
	maxPromptURLs = 3  // rule B8
)

// The names that agents use, have used or may use for the parts of an event (rule X14).
var (
	eventNames    = []string{"hook_event_name", "hookEventName", "hookName", "event"}
	toolNames     = []string{"tool_name", "toolName", "tool"}
	inputNames    = []string{"tool_input", "tool_params", "toolArgs", "toolInput", "tool_args", "args", "input"}
	responseNames = []string{
		"tool_response", "tool_result", "tool_output", "toolResult", "toolResponse", "toolOutput",
		"result_json", "output",
	}
	sessionNames = []string{"session_id", "sessionId", "sessionID", "conversation_id"}
	promptNames  = []string{"prompt", "user_prompt", "userPrompt"}
)

// stages are the names of the events that readthru uses, in lower case without separators.
var stages = map[string]Stage{
	"posttooluse": After, "aftertool": After, "aftermcpexecution": After, "toolexecuteafter": After,
	"pretooluse": Before, "beforetool": Before, "beforemcpexecution": Before, "toolexecutebefore": Before,
	"sessionstart":     Start,
	"userpromptsubmit": Prompt, "userpromptsubmitted": Prompt, "beforesubmitprompt": Prompt, "beforeagent": Prompt,
}

// fetchTools are the tools that read web pages, in lower case without separators.
var fetchTools = []string{"webfetch", "fetchwebpage", "vscodefetchwebpageinternal", "mcpwebfetch"}

// Parse parses an event. It returns false for an event that readthru does not use: malformed JSON, an unknown form,
// another tool, a page that must not be stored. Hooks are then silent (rule A18).
func Parse(text []byte) (*Event, bool) {
	var parts map[string]json.RawMessage
	if json.Unmarshal(text, &parts) != nil {
		return nil, false
	}
	e := &Event{Session: str(pick(parts, sessionNames))}
	e.Session = clip.Runes(clip.OneLine(e.Session), 200)
	e.strict = parts["conversation_id"] != nil || parts["sessionId"] != nil || parts["hookEventName"] != nil
	name := str(pick(parts, eventNames))
	stage, ok := stages[plainName(name)]
	if !ok && name != "" {
		return nil, false
	}
	e.Stage = stage
	if stage == Prompt && ok {
		return e, e.readPrompt(str(pick(parts, promptNames)))
	}
	if stage == Start {
		return e, true
	}
	e.Tool = str(pick(parts, toolNames))
	e.response = pick(parts, responseNames)
	input := object(pick(parts, inputNames))
	switch {
	case isFetchTool(e.Tool):
		e.readFetch(input)
		return e, len(e.URLs) > 0
	case isDocsTool(e.Tool, input) && stage == After:
		lib := libraryOf(input)
		e.Library = &lib
		e.Text, ok = textOf(e.response, 0)
		return e, ok
	}
	return nil, false
}

// readPrompt sets the first URLs of the user's message. It reports whether there are any.
func (e *Event) readPrompt(prompt string) bool {
	for _, d := range page.Detect(prompt) {
		if len(e.URLs) < maxPromptURLs {
			e.addURL(d.URL)
		}
	}
	return len(e.URLs) > 0
}

// readFetch sets the URLs of a fetch tool: from an argument, a list, or the text of a prompt (Gemini CLI).
func (e *Event) readFetch(input map[string]json.RawMessage) {
	e.addURL(str(pick(input, []string{"url", "uri"})))
	var list []string
	if json.Unmarshal(input["urls"], &list) == nil {
		for _, u := range list {
			e.addURL(u)
		}
	}
	if len(e.URLs) == 0 && plainName(e.Tool) == "webfetch" && input["url"] == nil {
		for _, d := range page.Detect(str(input["prompt"])) {
			e.addURL(d.URL)
		}
	}
	e.Text, _ = textOf(e.response, 0)
}

// addURL adds a URL that can be fetched and stored: http or https, without credentials.
func (e *Event) addURL(raw string) {
	u, err := page.Parse(strings.TrimSpace(raw))
	if err != nil || u.User != nil || page.HasSecret(u) || len(e.URLs) >= maxURLs || slices.Contains(e.URLs, u.String()) {
		return
	}
	e.URLs = append(e.URLs, u.String())
}

// isFetchTool reports whether the tool of an event is one that fetches web pages.
func isFetchTool(name string) bool { return slices.Contains(fetchTools, plainName(name)) }

// isDocsTool reports whether a tool is one of Context7's. Agents put prefixes before its name. Other servers may also
// have a tool query-docs, so the server's name or the form of the library must match too.
func isDocsTool(name string, input map[string]json.RawMessage) bool {
	tool := plainName(name)
	if !strings.HasSuffix(tool, "querydocs") && !strings.HasSuffix(tool, "getlibrarydocs") {
		return false
	}
	return strings.Contains(tool, "context7") || strings.HasPrefix(str(pick(input, libraryNames)), "/")
}

// plainName returns the letters and digits of a tool's name, in lower case: agents write the same tool in several ways.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return -1
	}, clip.Runes(s, 200))
}

// pick returns the part of an event that the first of names has: agents name the same part in several ways.
func pick(parts map[string]json.RawMessage, names []string) json.RawMessage {
	for _, n := range names {
		if v := parts[n]; len(v) > 0 && string(v) != "null" {
			return v
		}
	}
	return nil
}

// str returns the text of a JSON string in an event, and "" for any other value.
func str(v json.RawMessage) (s string) {
	if len(v) == 0 || json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// object returns the members of a JSON object in an event, which may also be the text of a JSON string (Cursor).
func object(v json.RawMessage) (m map[string]json.RawMessage) {
	if s := str(v); s != "" {
		v = json.RawMessage(s)
	}
	if len(v) == 0 || json.Unmarshal(v, &m) != nil {
		return nil
	}
	return m
}

// textOf returns the text of the tool's answer that an event reports. The answer may be a string, which may itself be
// JSON, a list of parts with text, or an object that has one of these under a known name. textOf returns false for an
// answer that is an error.
func textOf(v json.RawMessage, depth int) (string, bool) {
	v = bytes.TrimSpace(v)
	if len(v) == 0 || depth > 4 {
		return "", true
	}
	switch v[0] {
	case '"':
		s := str(v)
		if inner := strings.TrimSpace(s); strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[{") {
			if text, ok := textOf(json.RawMessage(inner), depth+1); text != "" || !ok {
				return text, ok
			}
		}
		return s, true
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(v, &list) != nil {
			return "", true
		}
		var texts []string
		for _, e := range list {
			text, ok := textOf(e, depth+1)
			if !ok {
				return "", false
			}
			if text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, "\n\n"), true
	case '{':
		var m map[string]json.RawMessage
		if json.Unmarshal(v, &m) != nil {
			return "", true
		}
		if failed(m) {
			return "", false
		}
		for _, name := range []string{"content", "result", "text", "llmContent", "textResultForLlm", "output", "value"} {
			if text, ok := textOf(m[name], depth+1); text != "" || !ok {
				return text, ok
			}
		}
	}
	return "", true
}

// failed reports whether the tool's answer that an event reports is marked as an error, in any of the forms that agents
// have for that.
func failed(m map[string]json.RawMessage) bool {
	for _, name := range []string{"isError", "is_error"} {
		if string(m[name]) == "true" {
			return true
		}
	}
	v := m["error"]
	return len(v) > 0 && string(v) != "null" && string(v) != "false" && string(v) != `""` && string(v) != "{}"
}
