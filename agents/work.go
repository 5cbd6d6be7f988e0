package agents

// Work is a task that remains after a hook has answered. It is stored as JSON and outlives the process.
type Work struct {
	URL      string `json:"url,omitempty"` // a page to store
	Prefetch bool   `json:"prefetch,omitempty"`

	Name string `json:"name,omitempty"` // name of the library that Docs is about
	Docs string `json:"docs,omitempty"` // documentation to store

	Agent   Agent  `json:"agent"`
	Session string `json:"session,omitempty"`
}

// Work returns the tasks that an event leaves. An event before a tool runs, and the start of a session, leave none.
func (e *Event) Work(agent Agent) (list []Work) {
	if e.Stage == Before || e.Stage == Start {
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
