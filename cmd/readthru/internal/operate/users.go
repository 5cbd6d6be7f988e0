package operate

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/users"
)

// usersCommand is the command users: who may use the proxy of a team, for what and how much.
func (p *program) usersCommand() *cli.Command {
	fields := []cli.Flag{
		&cli.StringFlag{Name: "role", Usage: "what the user may do: read, write or admin", DefaultText: "read"},
		&cli.StringFlag{
			Name: "mode", Usage: "who gets markdown: auto, always, negotiate or never", DefaultText: "as configured",
		},
		&cli.Int64Flag{Name: "requests-per-minute", Usage: "at most `N` requests a minute; 0: no limit"},
		&cli.Int64Flag{Name: "tokens-per-day", Usage: "at most `N` tokens of pages a day of UTC; 0: no limit"},
	}
	scopes := &cli.StringFlag{
		Name: "scopes", Value: strings.Join(users.Scopes, ","), Usage: "where the token may be shown",
	}
	return &cli.Command{
		Name:  "users",
		Usage: "list, make, change and remove the users of a team",
		Description: "Who is no user is refused by the proxy once there are users. A user signs in to the proxy with a\n" +
			"name and a token, and shows the token to the admin port and to /mcp (Authorization: Bearer TOKEN). Users\n" +
			"with the role read may read and search, with write they may also change what all share, and with admin do\n" +
			"everything. All changes take effect at once.",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the users", Flags: []cli.Flag{command.JSONFlag()},
				Action: command.All(p.Program, (*api.Client).Users, p.usersList),
			},
			{
				Name: "add", Usage: "make a user, and print the user's token, which is shown this once", ArgsUsage: "NAME",
				Flags: append(slices.Clone(fields), scopes, command.JSONFlag()), Action: p.usersAdd,
			},
			{
				Name: "set", Usage: "change role, mode or limits of a user", ArgsUsage: "NAME",
				Flags: append(slices.Clone(fields),
					&cli.BoolFlag{Name: "disabled", Usage: "let the user do nothing; --disabled=false ends that"},
					&cli.StringFlag{Name: "subject", Usage: "`ID` of the user at the provider of identities: its issuer, a space, its id"},
					&cli.BoolFlag{Name: "password", Usage: "set the password for the dashboard: the first line of standard input"},
					command.JSONFlag()),
				Action: p.usersSet,
			},
			{
				Name: "link", Usage: "print a link by which a user signs in to the dashboard, once, within a day",
				ArgsUsage: "NAME", Flags: []cli.Flag{command.JSONFlag()}, Action: p.usersLink,
			},
			{
				Name: "token", Usage: "make another token of a user, and print it; it is shown this once", ArgsUsage: "NAME",
				Flags: []cli.Flag{scopes, command.JSONFlag()}, Action: p.usersToken,
			},
			{
				Name: "rm", Usage: "remove a user, or one token of a user", ArgsUsage: "NAME",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "token", Usage: "remove only the token with this `ID`"}, command.JSONFlag(),
				},
				Action: p.usersRemove,
			},
			{
				Name: "clear", Usage: "remove all users, and let everybody use the proxy again",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "do it; without this it is not done"}, command.JSONFlag()},
				Action: p.usersClear,
			},
		},
	}
}

// userFields returns what flags set.
func userFields(c *cli.Context) (f api.UserFields) {
	if c.IsSet("role") {
		f.Role = new(c.String("role"))
	}
	if c.IsSet("mode") {
		f.Mode = new(c.String("mode"))
	}
	if c.IsSet("requests-per-minute") {
		f.RequestsPerMinute = new(c.Int64("requests-per-minute"))
	}
	if c.IsSet("tokens-per-day") {
		f.TokensPerDay = new(c.Int64("tokens-per-day"))
	}
	if c.IsSet("subject") {
		f.Subject = new(c.String("subject"))
	}
	if c.IsSet("disabled") {
		f.Disabled = new(c.Bool("disabled"))
	}
	return f
}

func scopesOf(c *cli.Context) []string {
	return strings.FieldsFunc(c.String("scopes"), func(r rune) bool { return r == ',' || r == ' ' })
}

// usersList lists the users with their limits and tokens, those of the configuration file included. Tokens themselves
// are not stored, so only their ids are shown.
func (p *program) usersList(list *api.UserList) error {
	if len(list.Users) == 0 && list.Closed {
		p.Note(`there are no users, and the proxy refuses everybody: "readthru user clear" opens it`)
	}
	var rows [][]string
	for _, u := range list.Users {
		row := []string{
			u.Name, u.Source, roleText(&u), terminal.OrDash(u.Mode), limitText(u.Limits.RequestsPerMinute),
			limitText(u.Limits.TokensPerDay),
		}
		if len(u.Tokens) == 0 {
			rows = append(rows, append(row, "-", "-"))
		}
		for _, t := range u.Tokens {
			rows = append(rows, append(slices.Clone(row), t.ID, strings.Join(t.Scopes, ",")))
		}
	}
	return p.Table([]string{"NAME", "FROM", "ROLE", "MODE", "REQUESTS/MIN", "TOKENS/DAY", "TOKEN", "SCOPES"}, rows)
}

// roleText returns the role of a user, and whether it counts.
func roleText(u *api.UserInfo) string {
	if u.Disabled {
		return u.Role + " (disabled)"
	}
	return terminal.OrDash(u.Role)
}

func limitText(n int64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}

// usersAdd makes a user and prints the token, this once. The first user closes the proxy to everybody else, which it
// says.
func (p *program) usersAdd(c *cli.Context) error {
	name, err := command.OneArg(c.Args().Slice(), "NAME")
	if err != nil {
		return err
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.MadeToken, error) {
		before, err := b.Users(c.Context)
		if err != nil {
			return nil, err
		}
		made, err := b.AddUser(c.Context, api.NewUser{Name: name, Scopes: scopesOf(c), UserFields: userFields(c)})
		if err == nil && !before.Closed {
			p.Note("the proxy refuses everybody who is no user from now on")
		}
		return made, err
	}, p.showToken)
}

// showToken prints a token, the only time that it is shown.
func (p *program) showToken(made *api.MadeToken) error {
	p.Note("token %s of %s (%s), role %s; it is not shown again:", made.ID, made.User.Name,
		strings.Join(made.User.Tokens[len(made.User.Tokens)-1].Scopes, ","), made.User.Role)
	return p.Print(made.Token + "\n")
}

// usersSet changes what a user may do, how much of it, or who gets markdown.
func (p *program) usersSet(c *cli.Context) error {
	name, err := command.OneArg(c.Args().Slice(), "NAME")
	if err != nil {
		return err
	}
	fields := userFields(c)
	if c.Bool("password") {
		password, err := p.readPassword()
		if err != nil {
			return fmt.Errorf("read the password: %w", err)
		}
		fields.Password = &password
	}
	if fields == (api.UserFields{}) {
		return terminal.Usagef("name what to change: --role, --mode, --requests-per-minute, --tokens-per-day, --disabled, " +
			"--subject or --password")
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.UserInfo, error) {
		return b.ChangeUser(c.Context, api.UserChange{Name: name, UserFields: fields})
	}, func(u *api.UserInfo) error {
		return p.Print(fmt.Sprintf("%s: role %s, mode %s, requests per minute %s, tokens per day %s\n", u.Name, roleText(u),
			terminal.OrDash(u.Mode), limitText(u.Limits.RequestsPerMinute), limitText(u.Limits.TokensPerDay)))
	})
}

// usersLink prints a link by which a user signs in, for an administrator to pass on.
func (p *program) usersLink(c *cli.Context) error {
	name, err := command.OneArg(c.Args().Slice(), "NAME")
	if err != nil {
		return err
	}
	s, err := p.Load()
	if err != nil {
		return err
	}
	d := daemon.Find(c.Context, s.DataDir)
	if d == nil {
		return terminal.WithHint(errors.New("no daemon runs"), `start one with "readthru serve"`)
	}
	site := "http://" + d.Admin
	if s.Admin.TLS.Cert != "" {
		site = "https://" + d.Admin
	}
	if _, port, err := net.SplitHostPort(d.Admin); err == nil && len(s.Admin.Hosts) > 0 {
		site = strings.TrimSuffix(site, d.Admin) + net.JoinHostPort(s.Admin.Hosts[0], port)
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.SigninLink, error) {
		return b.UserLink(c.Context, name)
	}, func(link *api.SigninLink) error {
		p.Note("whoever opens this link is %s; it works once, within a day and until the daemon ends:", name)
		return p.Print(site + link.Path + "\n")
	})
}

// usersToken makes another token for a user and prints it, this once.
func (p *program) usersToken(c *cli.Context) error {
	name, err := command.OneArg(c.Args().Slice(), "NAME")
	if err != nil {
		return err
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.MadeToken, error) {
		return b.AddToken(c.Context, api.TokenRequest{Name: name, Scopes: scopesOf(c)})
	}, p.showToken)
}

// usersRemove removes a user, or with --token one of the user's tokens. The proxy stays closed after the last user.
func (p *program) usersRemove(c *cli.Context) error {
	name, err := command.OneArg(c.Args().Slice(), "NAME")
	if err != nil {
		return err
	}
	what, id := "user "+name, c.String("token")
	if id != "" {
		what = "token " + id + " of " + name
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.Gone, error) {
		if id != "" {
			return b.RevokeToken(c.Context, name, id)
		}
		return b.RemoveUser(c.Context, name)
	}, func(*api.Gone) error { return p.Print("removed " + what + "\n") })
}

// usersClear removes all users of the store and opens the proxy to everybody who reaches it, only with --yes.
func (p *program) usersClear(c *cli.Context) error {
	if err := command.NoArgs(c.Args().Slice()); err != nil {
		return err
	}
	if !c.Bool("yes") {
		return terminal.Usagef("this removes all users and opens the proxy to everybody who reaches it: repeat it with --yes")
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.UserList, error) {
		if err := b.OpenProxy(c.Context); err != nil {
			return nil, err
		}
		return b.Users(c.Context)
	}, func(*api.UserList) error { return p.Print("removed all users; those of the configuration file stay\n") })
}
