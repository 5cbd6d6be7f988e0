package ui

import (
	"net/http"
	"strings"

	"github.com/readthru/readthru/api"
)

// notesPerPage is how many notes a page lists.
const notesPerPage = 50

type notesData struct {
	*api.NoteList
	Subject, URL string // only notes about these
	Next         string // the link to later ones
	Later        bool   // the page shows later ones
	Done, Token  string
}

// mountNotes adds the room of notes.
func (d *dashboard) mountNotes(mux *http.ServeMux) {
	mux.HandleFunc("GET /notes", d.notes)
	mux.HandleFunc("POST /notes", d.form("/notes", d.addNote))
	mux.HandleFunc("POST /notes/delete", d.form("/notes", d.deleteNote))
}

// notes lists notes.
func (d *dashboard) notes(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	data := notesData{
		Subject: asked.Get("subject"), URL: asked.Get("url"), Later: asked.Get("cursor") != "",
		Done: doneTexts[asked.Get("done")], Token: d.token,
	}
	var err error
	data.NoteList, err = d.o.Client.Notes(r.Context(), api.NoteQuery{
		Subject: data.Subject, URL: data.URL, Cursor: asked.Get("cursor"), Limit: notesPerPage,
	})
	if err != nil {
		d.fail(w, r, "/notes", err)
		return
	}
	if data.NoteList.Next != "" {
		asked.Set("cursor", data.NoteList.Next)
		asked.Del("done")
		data.Next = "/notes?" + asked.Encode()
	}
	d.show(w, r, http.StatusOK, "notes", view{Title: "Notes", At: "/notes", Data: data})
}

// addNote keeps a note.
func (d *dashboard) addNote(w http.ResponseWriter, r *http.Request) error {
	n := api.NewNote{Text: strings.TrimSpace(r.PostForm.Get("text")), Label: strings.TrimSpace(r.PostForm.Get("label"))}
	if at := strings.TrimSpace(r.PostForm.Get("url")); at != "" {
		n.Pages = []string{at}
	}
	_, err := d.o.Client.AddNote(r.Context(), n)
	return doneUnless(err, w, "/notes", "noted")
}

// deleteNote deletes a note.
func (d *dashboard) deleteNote(w http.ResponseWriter, r *http.Request) error {
	return doneUnless(d.o.Client.DeleteNote(r.Context(), r.PostForm.Get("note")), w, "/notes", "unnoted")
}
