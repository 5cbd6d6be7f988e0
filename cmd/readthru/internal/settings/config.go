package settings

import (
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/releases"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/page"
)

// Config is the configuration. The yaml tags make up a key's path; oneof lists the values that a text may have.
// config.example.yaml explains each key.
type Config struct {
	Proxy struct {
		Listen       string       `yaml:"listen"`
		Mode         string       `yaml:"mode" oneof:"auto always negotiate never"`
		Users        []UserConfig `yaml:"users"`
		Upstream     string       `yaml:"upstream"`
		Direct       []string     `yaml:"direct"`
		AllowPrivate *bool        `yaml:"allow_private"` // nil: true on a loopback listener
		ConnectPorts []int        `yaml:"connect_ports"`
		TLS          TLSFiles     `yaml:"tls"`
	} `yaml:"proxy"`
	Admin struct {
		Listen string   `yaml:"listen"`
		Token  string   `yaml:"token"`
		Hosts  []string `yaml:"hosts"`
		TLS    TLSFiles `yaml:"tls"`
	} `yaml:"admin"`
	OIDC struct {
		Issuer       string `yaml:"issuer"`
		ClientID     string `yaml:"client_id"`
		ClientSecret string `yaml:"client_secret"`
		NameClaim    string `yaml:"name_claim"`
		AdminGroup   string `yaml:"admin_group"`
	} `yaml:"oidc"`
	Rules          []ruleConfig `yaml:"rules"`
	Preferences    string       `yaml:"preferences" oneof:"auto respect tell ignore"`
	BlockedDomains []string     `yaml:"blocked_domains"`
	Fetch          struct {
		Cascade      []string      `yaml:"cascade" oneof:"negotiate alternate local browser markdown_new llm"`
		Timeout      time.Duration `yaml:"timeout"`
		MaxBody      Size          `yaml:"max_body"`
		UserAgent    string        `yaml:"user_agent"`
		AllowPrivate bool          `yaml:"allow_private"`
		MaxHTMLChars int           `yaml:"max_html_chars"`
		Sign         struct {
			Directory string `yaml:"directory"`
			Key       string `yaml:"key"`
		} `yaml:"sign"`
	} `yaml:"fetch"`
	GitHub struct {
		BaseURL     string `yaml:"base_url"`
		CodeloadURL string `yaml:"codeload_url"`
		RawURL      string `yaml:"raw_url"`
		APIURL      string `yaml:"api_url"`
		Token       string `yaml:"token"`
		Git         string `yaml:"git"`
		Helper      bool   `yaml:"credential_helper"`
	} `yaml:"github"`
	Forges   []forgeConfig `yaml:"forges"`
	Upstream struct {
		Resolve []string `yaml:"resolve"`
		CAFile  string   `yaml:"ca_file"`
	} `yaml:"upstream"`
	MarkdownNew struct {
		Mode       string `yaml:"mode" oneof:"off fallback prefer"`
		BaseURL    string `yaml:"base_url"`
		DailyLimit int    `yaml:"daily_limit"`
	} `yaml:"markdown_new"`
	Render struct {
		Mode        string `yaml:"mode" oneof:"auto always never"`
		Browser     string `yaml:"browser"`
		Attach      string `yaml:"attach"`
		Concurrency int    `yaml:"concurrency"`
		Sandbox     string `yaml:"sandbox" oneof:"auto require"`
	} `yaml:"render"`
	LLM struct {
		ModelConfig
		MaxContext int `yaml:"max_context"`
	} `yaml:"llm"`
	Embeddings ModelConfig `yaml:"embeddings"`
	Rerank     struct {
		BaseURL string `yaml:"base_url"`
		Model   string `yaml:"model"`
		APIKey  string `yaml:"api_key"`
	} `yaml:"rerank"`
	Knowledge struct {
		PassageChars int `yaml:"passage_chars"`
	} `yaml:"knowledge"`
	Crawl struct {
		Service      string        `yaml:"service" oneof:"local firecrawl"`
		Workers      int           `yaml:"workers"`
		Interval     time.Duration `yaml:"interval"`
		FirecrawlURL string        `yaml:"firecrawl_url"`
		FirecrawlKey string        `yaml:"firecrawl_key"`
	} `yaml:"crawl"`
	Search struct {
		SearXNGURL string `yaml:"searxng_url"`
	} `yaml:"search"`
	Convert struct {
		Links       string `yaml:"links" oneof:"inline compact reference text none"`
		Images      string `yaml:"images" oneof:"keep alt none"`
		FrontMatter bool   `yaml:"front_matter"`
	} `yaml:"convert"`
	Pages struct {
		WithCookies string `yaml:"with_cookies" oneof:"skip reread remember"`
	} `yaml:"pages"`
	Cache struct {
		PageTTL      time.Duration `yaml:"page_ttl"`
		StaleLimit   time.Duration `yaml:"stale_limit"`
		HeuristicMax time.Duration `yaml:"heuristic_max"`
		MaxSize      Size          `yaml:"max_size"`
		Memory       Size          `yaml:"memory"`
		Mode         string        `yaml:"mode" oneof:"shared private"`
		Targeted     []string      `yaml:"targeted"`
	} `yaml:"cache"`
	MCP struct {
		Write  bool `yaml:"write"`
		Robots bool `yaml:"robots"`
	} `yaml:"mcp"`
	Fleet struct {
		Database string        `yaml:"database"`
		Bodies   string        `yaml:"bodies"`
		Name     string        `yaml:"name"`
		Node     string        `yaml:"node"`
		Wait     time.Duration `yaml:"wait"`
	} `yaml:"fleet"`
	Requests struct {
		Last    int  `yaml:"last"`
		Days    int  `yaml:"days"`
		MaxSize Size `yaml:"max_size"`
	} `yaml:"requests"`
	Log struct {
		Level  string `yaml:"level" oneof:"debug info warn error"`
		Format string `yaml:"format" oneof:"auto text json"`
	} `yaml:"log"`
}

// ModelConfig is a model at an endpoint.
type ModelConfig struct {
	Provider string        `yaml:"provider" oneof:"none openai anthropic ollama"`
	BaseURL  string        `yaml:"base_url"`
	Model    string        `yaml:"model"`
	APIKey   string        `yaml:"api_key"`
	Timeout  time.Duration `yaml:"timeout"`
}

// UserConfig may sign in to the proxy.
type UserConfig struct {
	Name         string `yaml:"name"`
	PasswordHash string `yaml:"password_hash"`
	Mode         string `yaml:"mode" oneof:"auto always negotiate never"`
}

// forgeConfig is a host with repositories.
type forgeConfig struct {
	URL    string `yaml:"url"`
	Kind   string `yaml:"kind" oneof:"github gitlab gitea bitbucket"`
	Token  string `yaml:"token"`
	APIURL string `yaml:"api_url"`
}

// ruleConfig is a rule for some hosts and paths.
type ruleConfig struct {
	Host        string        `yaml:"host"`
	Path        string        `yaml:"path"`
	Action      string        `yaml:"action" oneof:"intercept tunnel block"`
	Mode        string        `yaml:"mode" oneof:"auto always negotiate never"`
	TTL         time.Duration `yaml:"ttl"`
	Bypass      bool          `yaml:"bypass"`
	Cascade     []string      `yaml:"cascade" oneof:"negotiate alternate local browser markdown_new llm"`
	Render      string        `yaml:"render" oneof:"auto always never"`
	Preferences string        `yaml:"preferences" oneof:"auto respect tell ignore"`
	Log         string        `yaml:"log" oneof:"off"`
}

// Defaults returns the default configuration.
func Defaults() *Config {
	c := new(Config)
	c.Preferences = fetch.PreferencesAuto
	c.Proxy.Listen, c.Proxy.Mode, c.Proxy.ConnectPorts = "127.0.0.1:7887", "auto", []int{443}
	c.Admin.Listen, c.OIDC.NameClaim = "127.0.0.1:7888", "preferred_username"
	c.BlockedDomains = []string{"medium.com", "substack.com"}
	c.Fetch.Cascade = []string{"negotiate", "alternate", "local", "browser", "markdown_new"}
	c.Fetch.Timeout, c.Fetch.MaxBody, c.Fetch.UserAgent = 30*time.Second, page.DefaultMaxBody, "readthru/"+releases.Version
	c.GitHub.BaseURL, c.GitHub.Git = "https://github.com", "git"
	c.MarkdownNew.Mode, c.MarkdownNew.BaseURL, c.MarkdownNew.DailyLimit = "fallback", "https://markdown.new", 500
	c.Fetch.MaxHTMLChars = 40_000
	c.LLM.Provider, c.LLM.Timeout, c.LLM.MaxContext = "none", time.Minute, 32768
	c.Embeddings.Provider, c.Embeddings.Timeout, c.Knowledge.PassageChars = "none", time.Minute, 4000
	c.Crawl.Service, c.Crawl.Workers, c.Crawl.Interval, c.Crawl.FirecrawlURL = "local", 4, 200*time.Millisecond,
		"https://api.firecrawl.dev"
	c.Render.Mode, c.Render.Sandbox = "auto", "auto"
	c.Convert.Links, c.Convert.Images, c.Convert.FrontMatter = "inline", "keep", true
	c.Pages.WithCookies = "skip"
	c.Cache.PageTTL, c.Cache.StaleLimit, c.Cache.HeuristicMax = 24*time.Hour, 168*time.Hour, 168*time.Hour
	c.Cache.MaxSize, c.Cache.Mode = 2<<30, "shared"
	c.Cache.Memory = 64 << 20
	c.MCP.Robots = true
	c.Fleet.Name, c.Fleet.Wait = "readthru", 50*time.Millisecond
	c.Requests.Last, c.Requests.MaxSize = 5000, 256<<20
	c.Log.Level, c.Log.Format = "info", "auto"
	return c
}

// TLSFiles are the keys of proxy.TLSFiles.
type TLSFiles struct {
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
}

// Settings is a configuration with the source of each value, and its files.
type Settings struct {
	*Config
	DataDir    string // absolute
	ConfigFile string // the file read, empty if none
	// by a key's path, and for data_dir and config: default, file NAME:LINE, environment NAME or flag --NAME
	Source map[string]string
}

// Set is a value from the command line.
type Set struct{ Path, Flag, Value string }

// Load reads the configuration. Flags override the environment, which overrides the file, which overrides the defaults.
// Mistakes are usage errors that name the source.
func Load(dirFlag, configFlag string, flags ...Set) (*Settings, error) {
	s := &Settings{Config: Defaults(), Source: map[string]string{}}
	var err error
	if s.DataDir, s.Source["data_dir"], err = DataDir(dirFlag); err != nil {
		return nil, err
	}
	s.Source["config"] = "default"
	leaves := s.Leaves()
	for _, l := range leaves {
		s.Source[l.Path] = "default"
	}
	if err := s.readFile(configFlag); err != nil {
		return nil, err
	}
	for _, l := range leaves {
		name := "READTHRU_" + strings.ToUpper(strings.ReplaceAll(l.Path, ".", "_"))
		text, ok := os.LookupEnv(name)
		if !ok {
			continue
		}
		if err := l.setText(text); err != nil {
			return nil, terminal.Usagef("environment %s: %w", name, err)
		}
		s.Source[l.Path] = "environment " + name
	}
	if err := s.readAliases(leaves); err != nil {
		return nil, err
	}
	for _, f := range flags {
		i := slices.IndexFunc(leaves, func(l leaf) bool { return l.Path == f.Path })
		if err := leaves[i].setText(f.Value); err != nil {
			return nil, terminal.Usagef("--%s: %w", f.Flag, err)
		}
		s.Source[f.Path] = "flag --" + f.Flag
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s, s.root()
}

// root makes the files of the configuration absolute that are named from the working directory: a daemon may have
// another one.
func (s *Settings) root() (err error) {
	for _, name := range []*string{&s.Upstream.CAFile, &s.Render.Browser, &s.GitHub.Git} {
		if filepath.Base(*name) != *name && *name != "" && err == nil { // a bare name is looked up in PATH
			*name, err = filepath.Abs(*name)
		}
	}
	return err
}

// aliases are environment variables of other tools for keys of ours. They apply if the key is not set.
var aliases = map[string]string{"fetch.max_html_chars": "WEB_VISIT_MAX_HTML_CHARS"}

// readAliases reads the environment variables that other programs use for the same thing, where the key still has its
// default.
func (s *Settings) readAliases(leaves []leaf) error {
	for _, l := range leaves {
		name := aliases[l.Path]
		text, ok := os.LookupEnv(name)
		if name == "" || !ok || s.Source[l.Path] != "default" {
			continue
		}
		if err := l.setText(text); err != nil {
			return terminal.Usagef("environment %s: %w", name, err)
		}
		s.Source[l.Path] = "environment " + name
	}
	return nil
}

// Users returns the users of the proxy that are configured.
func (s *Settings) Users() []users.User {
	var list []users.User
	for _, u := range s.Proxy.Users {
		list = append(list, users.User{Name: u.Name, PasswordHash: u.PasswordHash, Mode: u.Mode})
	}
	return list
}

// Loopback reports whether a listening address is reachable only from this machine.
func Loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && page.Loopback(host)
}

// AllowPrivate reports whether proxied requests may reach private addresses.
func (s *Settings) AllowPrivate() bool {
	if s.Proxy.AllowPrivate != nil {
		return *s.Proxy.AllowPrivate
	}
	return Loopback(s.Proxy.Listen)
}

// leaf is one key of the configuration.
type leaf struct {
	Path  string
	value reflect.Value
	oneof []string
}

// Leaves lists the keys in the order of the struct.
func (c *Config) Leaves() []leaf { return leavesOf(reflect.ValueOf(c).Elem(), "") }

// leavesOf returns the keys of the configuration with their values, by reflection over the structs of Settings: those
// that are not sections.
func leavesOf(v reflect.Value, prefix string) (list []leaf) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous { // its keys belong to the outer struct
			list = append(list, leavesOf(v.Field(i), prefix)...)
			continue
		}
		path := prefix + f.Tag.Get("yaml")
		if f.Type.Kind() == reflect.Struct {
			list = append(list, leavesOf(v.Field(i), path+".")...)
			continue
		}
		list = append(list, leaf{path, v.Field(i), strings.Fields(f.Tag.Get("oneof"))})
	}
	return list
}
