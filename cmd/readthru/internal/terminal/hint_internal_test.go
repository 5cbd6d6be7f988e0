package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheSecurityModuleThatMayHaveDeniedIsNamed(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"none", nil, ""},
		{"SELinux enforces", map[string]string{
			"sys/fs/selinux/enforce": "1", "proc/self/attr/current": "system_u:system_r:container_t:s0:c1,c2\x00",
		}, `SELinux may have denied it to system_u:system_r:container_t:s0:c1,c2: "ausearch`},
		{"SELinux only warns", map[string]string{
			"sys/fs/selinux/enforce": "0", "proc/self/attr/current": "unconfined_u:unconfined_r:unconfined_t:s0\x00",
		}, ""},
		{"AppArmor enforces", map[string]string{
			"proc/self/attr/apparmor/current": "docker-default (enforce)\n",
		}, `AppArmor's profile docker-default may have denied it: "journalctl`},
		{"AppArmor of an older kernel", map[string]string{
			"proc/self/attr/current": "/usr/bin/readthru (enforce)\n",
		}, "AppArmor's profile /usr/bin/readthru may"},
		{"AppArmor only warns", map[string]string{"proc/self/attr/current": "docker-default (complain)\n"}, ""},
		{"AppArmor without a profile", map[string]string{"proc/self/attr/apparmor/current": "unconfined\n"}, ""},
	} {
		root := t.TempDir()
		for name, text := range tt.files {
			if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := confinement(root); !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
