package agents

// Work is what an event leaves to be done after the hook has answered. It outlives the process, as JSON.
type Work struct {
	URL      string `json:"url,omitempty"` // a page to keep
	Prefetch bool   `json:"prefetch,omitempty"`

	Name string `json:"name,omitempty"` // of the library that Docs is about
	Docs string `json:"docs,omitempty"` // documentation to keep

	Agent   Agent  `json:"agent"`
	Session string `json:"session,omitempty"`
}

// Work returns what an event leaves to be done: nothing before a tool runs.
func (e *Event) Work(agent Agent) (list []Work) {
	if e.Stage == Before {
		return nil
	}
	if e.Library != nil {
		if WorthKeeping(e.Text) {
			list = append(list, Work{Name: e.Library.Name(), Docs: e.Text, Agent: agent, Session: e.Session})
		}
		return list
	}
	for _, u := range e.URLs {
		list = append(list, Work{URL: u, Prefetch: e.Stage == Prompt, Agent: agent, Session: e.Session})
	}
	return list
}
