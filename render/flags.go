package render

import (
	"os"
	"slices"
	"strings"

	"github.com/chromedp/chromedp"
)

// flags returns the options of a browser process that has no network but the listener at sink (host:port).
func flags(f found, dir, sink string, sandbox bool) []chromedp.ExecAllocatorOption {
	opts := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(f.path),
		chromedp.NoInheritEnv, // ours may hold keys
		chromedp.Env(environment(os.Environ())...),
		chromedp.UserDataDir(dir),
		chromedp.Headless,
		chromedp.NoFirstRun,
		chromedp.NoDefaultBrowserCheck,
		chromedp.DisableGPU,
		chromedp.WindowSize(1280, 1024),

		// Every way to the network leads to the sink, also for loopback addresses, names, UDP and WebRTC. The two switches
		// for WebRTC are one: a headless shell knows the first, a whole browser the second.
		chromedp.Flag("proxy-server", "http://"+sink),
		chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("force-webrtc-ip-handling-policy", "disable_non_proxied_udp"),
		chromedp.Flag("webrtc-ip-handling-policy", "disable_non_proxied_udp"),

		// What a browser does of its own accord.
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

		// Nobody is there to answer, listen or look.
		chromedp.Flag("block-new-web-contents", true),
		chromedp.Flag("deny-permission-prompts", true),
		chromedp.Flag("disable-notifications", true),
		chromedp.Flag("disable-prompt-on-repost", true),
		chromedp.Flag("mute-audio", true),
		chromedp.Flag("noerrdialogs", true),

		// A page in the background is a page like any other.
		chromedp.Flag("disable-background-timer-throttling", true),
		chromedp.Flag("disable-backgrounding-occluded-windows", true),
		chromedp.Flag("disable-hang-monitor", true),
		chromedp.Flag("disable-renderer-backgrounding", true),
		chromedp.Flag("disable-dev-shm-usage", true), // containers have little of it

		// A page that eats memory dies alone.
		chromedp.Flag("js-flags", "--max-old-space-size=512"),
	}
	if sandbox {
		opts = append(opts, chromedp.Flag("no-sandbox", false))
	}
	return opts
}

// environment returns the variables that a browser gets: where its files and libraries are, and the user's language and
// clock.
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

// sandboxed reports whether a browser that we start has its sandbox: chromedp leaves it away for root, where it cannot
// start.
func sandboxed() bool { return os.Getuid() != 0 }
