package render

import (
	"os"
	"slices"
	"strings"

	"github.com/chromedp/chromedp"
)

// flags returns the options of a browser process whose only network is the listener at proxy (host:port), and whose
// profile is in dir. The network flags are a second line of defence: requests are paused and answered by us before they
// get there (intercept.go), and what is not paused must reach nothing.
func flags(f executable, dir, proxy string, sandbox bool) []chromedp.ExecAllocatorOption {
	opts := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(f.path),
		chromedp.NoInheritEnv, // our environment may have keys
		chromedp.Env(environment(os.Environ())...),
		chromedp.UserDataDir(dir),
		chromedp.Headless,
		chromedp.NoFirstRun,
		chromedp.NoDefaultBrowserCheck,
		chromedp.DisableGPU,
		chromedp.WindowSize(1280, 1024),

		// All network traffic goes to the proxy, including loopback addresses, names, UDP and WebRTC. A headless shell has
		// the first flag for WebRTC, a full browser the second.
		chromedp.Flag("proxy-server", "http://"+proxy),
		chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("force-webrtc-ip-handling-policy", "disable_non_proxied_udp"),
		chromedp.Flag("webrtc-ip-handling-policy", "disable_non_proxied_udp"),

		// Switch off what a browser does by itself.
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-breakpad", true),
		chromedp.Flag("disable-client-side-phishing-detection", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-default-apps", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("disable-extensions", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("metrics-recording-only", true),
		chromedp.Flag("no-pings", true),
		chromedp.Flag("safebrowsing-disable-auto-update", true),
		chromedp.Flag("disable-features",
			"Translate,MediaRouter,OptimizationHints,InterestFeedContentSuggestions,DialMediaRouteProvider,AutofillServerCommunication,CertificateTransparencyComponentUpdater"),
		chromedp.Flag("password-store", "basic"),
		chromedp.Flag("use-mock-keychain", true),

		// There is no user to answer, listen or look.
		chromedp.Flag("block-new-web-contents", true),
		chromedp.Flag("deny-permission-prompts", true),
		chromedp.Flag("disable-notifications", true),
		chromedp.Flag("disable-prompt-on-repost", true),
		chromedp.Flag("mute-audio", true),
		chromedp.Flag("noerrdialogs", true),

		// Pages in the background run at full speed.
		chromedp.Flag("disable-background-timer-throttling", true),
		chromedp.Flag("disable-backgrounding-occluded-windows", true),
		chromedp.Flag("disable-hang-monitor", true),
		chromedp.Flag("disable-renderer-backgrounding", true),
		chromedp.Flag("disable-dev-shm-usage", true), // it is small in containers

		// A page that uses too much memory dies alone.
		chromedp.Flag("js-flags", "--max-old-space-size=512"),
	}
	// chromedp sets no-sandbox by itself as root; with Options.Sandbox the browser then refuses to start.
	if sandbox {
		opts = append(opts, chromedp.Flag("no-sandbox", false))
	}
	return opts
}

// environment returns, beside the flags, the variables that the browser inherits: those for files, libraries, language
// and time zone. All others stay here, since they may be keys or passwords.
func environment(ours []string) []string {
	return slices.DeleteFunc(slices.Clone(ours), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		switch name = strings.ToUpper(name); name {
		case "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "LD_LIBRARY_PATH",
			"FONTCONFIG_FILE", "FONTCONFIG_PATH",
			"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "PROGRAMDATA",
			"PROGRAMFILES", "PROGRAMFILES(X86)":
			return false
		}
		return !strings.HasPrefix(name, "LC_") && !strings.HasPrefix(name, "XDG_")
	})
}

// sandboxed reports, for its flags, whether a browser that we start has its sandbox. As root the sandbox does not work,
// and chromedp switches it off; [State] tells.
func sandboxed() bool { return os.Getuid() != 0 }
