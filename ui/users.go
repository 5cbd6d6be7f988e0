package ui

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/users"
)

// mountUsers adds the room in which administrators manage the users of a team. Names of users of the configuration may
// be anything, so that they stand in queries, not in paths.
func (d *dashboard) mountUsers(mux *http.ServeMux) {
	mux.HandleFunc("GET /users", d.users)
	mux.HandleFunc("POST /users", d.form("/users", d.addUser))
	mux.HandleFunc("GET /user", d.user)
	mux.HandleFunc("GET /acts", d.acts)
	mux.HandleFunc("POST /user/change", d.form("/users", d.changeUser))
	mux.HandleFunc("POST /user/token", d.form("/users", d.addToken))
	mux.HandleFunc("POST /user/revoke", d.form("/users", d.revokeToken))
	mux.HandleFunc("POST /user/link", d.form("/users", d.userLink))
	mux.HandleFunc("POST /user/remove", d.form("/users", d.removeUser))
}

// usersData is what the template of the list of users shows.
type usersData struct {
	*api.UserList
	Used   map[string]users.Use // today, by user
	Scopes []string
	Done   string
}

// users lists the users, with what they used today.
func (d *dashboard) users(w http.ResponseWriter, r *http.Request) {
	data := usersData{Used: map[string]users.Use{}, Scopes: users.Scopes, Done: doneTexts[r.URL.Query().Get("done")]}
	var err error
	if data.UserList, err = d.o.Client.Users(r.Context()); err != nil {
		d.fail(w, r, "/users", err)
		return
	}
	used, err := d.o.Client.Usage(r.Context(), api.UsesQuery{})
	if err != nil {
		d.fail(w, r, "/users", err)
		return
	}
	for _, use := range used.Users {
		data.Used[use.User] = use.Use
	}
	d.show(w, r, http.StatusOK, "users", view{Title: "Users", At: "/users", Data: data})
}

// usageDays is how many days of what a user used a page shows.
const usageDays = 14

// userData is what the templates of one user show.
type userData struct {
	*api.UserInfo
	Usage  *api.UseList
	Filter string // the filter that selects the user's requests
	Roles  []users.Role
	Modes  []string
	Scopes []string
	Done   string
}

// userOf returns what pages show of a user, with what the user used lately, the newest day first.
func (d *dashboard) userOf(r *http.Request, u *api.UserInfo) (data userData, err error) {
	data = userData{
		UserInfo: u, Filter: `user:"` + strings.ReplaceAll(u.Name, `"`, "") + `"`, // filters have no quotes in a value
		Roles: []users.Role{users.Read, users.Write, users.Admin}, Modes: []string{"auto", "always", "negotiate", "never"},
		Scopes: users.Scopes, Done: doneTexts[r.URL.Query().Get("done")],
	}
	data.Usage, err = d.o.Client.Usage(r.Context(), api.UsesQuery{
		User: u.Name, Days: true, Since: time.Now().AddDate(0, 0, 1-usageDays),
	})
	if err == nil {
		slices.Reverse(data.Usage.Users)
	}
	return data, err
}

// user shows one user. There is no operation for a single one, so that it is looked up among all of them.
func (d *dashboard) user(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("name")
	list, err := d.o.Client.Users(r.Context())
	if err != nil {
		d.fail(w, r, "/users", err)
		return
	}
	i := slices.IndexFunc(list.Users, func(u api.UserInfo) bool { return u.Name == name })
	if i < 0 {
		d.fail(w, r, "/users", api.NewError(http.StatusNotFound, api.CodeNotFound, "there is no user "+strconv.Quote(name)))
		return
	}
	data, err := d.userOf(r, &list.Users[i])
	if err != nil {
		d.fail(w, r, "/users", err)
		return
	}
	d.show(w, r, http.StatusOK, "user", view{Title: "User " + plain(name), At: "/users", Data: data})
}

// actsPerPage is how many acts a page lists.
const actsPerPage = 100

// actsData is what the template of the list of acts shows.
type actsData struct {
	*api.ActList
	More  string // the link to older ones; the field Next is not one
	Later bool   // the page shows older ones
}

// acts lists what administrators did.
func (d *dashboard) acts(w http.ResponseWriter, r *http.Request) {
	cursor := r.URL.Query().Get("cursor")
	list, err := d.o.Client.Acts(r.Context(), api.ListQuery{Cursor: cursor, Limit: actsPerPage})
	if err != nil {
		d.fail(w, r, "/users", err)
		return
	}
	data := actsData{ActList: list, Later: cursor != ""}
	if list.Next != "" {
		data.More = "/acts?cursor=" + url.QueryEscape(list.Next)
	}
	d.show(w, r, http.StatusOK, "acts", view{Title: "Acts of administrators", At: "/users", Data: data})
}

// userPath returns the path of the page of the user that a form is about.
func userPath(r *http.Request) string { return "/user?name=" + url.QueryEscape(r.PostForm.Get("name")) }

// limitOf returns the limit in a field of a form. An empty field is no limit.
func limitOf(r *http.Request, field string) (*int64, error) {
	text := strings.TrimSpace(r.PostForm.Get(field))
	if text == "" {
		return new(int64(0)), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil, api.Problem(http.StatusBadRequest, "a limit is a number, or empty for none; %.40q is neither", text)
	}
	return &n, nil
}

// fieldsOf returns the role and the limits that a form sets.
func fieldsOf(r *http.Request) (f api.UserFields, err error) {
	f.Role = new(r.PostForm.Get("role"))
	if f.RequestsPerMinute, err = limitOf(r, "requests"); err == nil {
		f.TokensPerDay, err = limitOf(r, "tokens")
	}
	return f, err
}

// addUser makes a user, and shows the token, this once.
func (d *dashboard) addUser(w http.ResponseWriter, r *http.Request) error {
	f, err := fieldsOf(r)
	if err != nil {
		return err
	}
	made, err := d.o.Client.AddUser(r.Context(), api.NewUser{
		Name: strings.TrimSpace(r.PostForm.Get("name")), Scopes: r.PostForm["scope"], UserFields: f,
	})
	if err == nil {
		d.showSecret(w, r, secretData{Name: made.User.Name, Token: made.Token, New: true})
	}
	return err
}

// changeUser changes role, mode and limits of a user, or what else the form has.
func (d *dashboard) changeUser(w http.ResponseWriter, r *http.Request) error {
	var f api.UserFields
	var err error
	what := "changed"
	switch form := r.PostForm; form.Get("do") {
	case "disable":
		f.Disabled, what = new(true), "disabled"
	case "enable":
		f.Disabled, what = new(false), "enabled"
	case "password":
		f.Password, what = new(""), "unpassworded"
	case "subject":
		f.Subject = new(form.Get("subject"))
	default:
		if f, err = fieldsOf(r); err != nil {
			return err
		}
		f.Mode = new(form.Get("mode"))
	}
	_, err = d.o.Client.ChangeUser(r.Context(), api.UserChange{Name: r.PostForm.Get("name"), UserFields: f})
	return doneUnless(err, w, userPath(r), what)
}

// addToken makes another token of a user, and shows it, this once.
func (d *dashboard) addToken(w http.ResponseWriter, r *http.Request) error {
	made, err := d.o.Client.AddToken(r.Context(), api.TokenRequest{
		Name: r.PostForm.Get("name"), Scopes: r.PostForm["scope"],
	})
	if err == nil {
		d.showSecret(w, r, secretData{Name: made.User.Name, Token: made.Token})
	}
	return err
}

// userLink makes a link by which a user signs in, and shows it, this once.
func (d *dashboard) userLink(w http.ResponseWriter, r *http.Request) error {
	name := r.PostForm.Get("name")
	link, err := d.o.Client.UserLink(r.Context(), name)
	if err == nil {
		scheme := "http://"
		if r.TLS != nil {
			scheme = "https://"
		}
		d.showSecret(w, r, secretData{Name: name, Link: scheme + r.Host + link.Path})
	}
	return err
}

// secretData is what the template shows that tells a secret of a user, once: a token or a link.
type secretData struct {
	Name, Token, Link string
	New               bool // the user was made just now
}

func (d *dashboard) showSecret(w http.ResponseWriter, r *http.Request, data secretData) {
	d.show(w, r, http.StatusOK, "token", view{Title: "For " + data.Name, At: "/users", Data: data})
}

// revokeToken revokes a token of a user.
func (d *dashboard) revokeToken(w http.ResponseWriter, r *http.Request) error {
	_, err := d.o.Client.RevokeToken(r.Context(), r.PostForm.Get("name"), r.PostForm.Get("id"))
	return doneUnless(err, w, userPath(r), "revoked")
}

// removeUser removes a user.
func (d *dashboard) removeUser(w http.ResponseWriter, r *http.Request) error {
	_, err := d.o.Client.RemoveUser(r.Context(), r.PostForm.Get("name"))
	return doneUnless(err, w, "/users", "removed")
}
