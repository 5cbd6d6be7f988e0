package transport_test

import (
	"net/netip"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/transport"
)

func TestAddressesAreJudgedInEveryForm(t *testing.T) {
	const (
		never   = "never"   // not even for a client on a loopback listener
		private = "private" // only for such a client
		free    = "free"
	)
	for _, tt := range []struct{ name, ip, want string }{
		{"loopback", "127.0.0.1", private},
		{"all of 127/8", "127.255.255.254", private},
		{"this network", "0.0.0.0", private},
		{"RFC 1918, 10/8", "10.1.2.3", private},
		{"RFC 1918, 172.16/12", "172.16.0.1", private},
		{"RFC 1918, 192.168/16", "192.168.1.1", private},
		{"shared address space", "100.64.0.1", private},
		{"documentation", "192.0.2.1", private},
		{"benchmarking", "198.18.0.1", private},
		{"multicast", "224.0.0.1", private},
		{"broadcast", "255.255.255.255", private},
		{"IPv6 loopback", "::1", private},
		{"IPv6 unspecified", "::", private},
		{"unique local", "fd00::1", private},
		{"link local", "fe80::1", private},
		{"link local with zone", "fe80::1%eth0", private},
		{"site local", "fec0::1", private},
		{"IPv6 documentation", "2001:db8::1", private},

		{"metadata", "169.254.169.254", never},
		{"all of link local IPv4", "169.254.0.1", never},
		{"metadata of Alibaba", "100.100.100.200", never},
		{"metadata of Azure", "168.63.129.16", never},
		{"metadata of AWS over IPv6", "fd00:ec2::254", never},
		{"metadata of Google over IPv6", "fd20:ce::254", never},

		{"metadata of Oracle Classic", "192.0.0.192", never},
		{"metadata of AWS ECS", "169.254.170.2", never},
		{"metadata of AWS EKS", "169.254.170.23", never},
		{"metadata of AWS EKS over IPv6", "fd00:ec2::23", never},
		{"metadata of Tencent", "169.254.0.23", never},
		{"metadata of Scaleway", "169.254.42.42", never},
		{"metadata of Scaleway over IPv6", "fd00:42::42", never},
		{"metadata of Volcano Engine", "100.96.0.96", never},
		{"metadata of UCloud", "100.80.80.80", never},
		{"metadata of Equinix Metal", "192.80.8.124", never},
		{"metadata of Oracle over IPv6", "fd00:c1::a9fe:a9fe", never},
		{"metadata of Akamai over IPv6", "fd00:a9fe:a9fe::1", never},
		{"metadata of Alibaba over IPv6", "fd00:100::100:200", never},
		{"metadata of OpenStack over IPv6", "fe80::a9fe:a9fe%eth0", never},
		{"metadata of Oracle Classic, mapped", "::ffff:192.0.0.192", never},
		{"metadata of Azure, NAT64", "64:ff9b::168.63.129.16", never},
		{"metadata of Alibaba, 6to4", "2002:6464:64c8::1", never},
		{"beside Oracle Classic", "192.0.0.193", private},
		{"beside Azure", "168.63.129.17", free},
		{"beside AWS over IPv6", "fd00:ec3::254", private},

		{"mapped loopback", "::ffff:127.0.0.1", private},
		{"mapped metadata", "::ffff:169.254.169.254", never},
		{"compatible loopback", "::127.0.0.1", private},
		{"compatible metadata", "::169.254.169.254", never},
		{"translated loopback", "::ffff:0:127.0.0.1", private},
		{"translated metadata", "::ffff:0:169.254.169.254", never},
		{"NAT64 loopback", "64:ff9b::127.0.0.1", private},
		{"NAT64 metadata", "64:ff9b::169.254.169.254", never},
		{"NAT64 local-use loopback, last bits", "64:ff9b:1::7f00:1", private},
		{"NAT64 local-use metadata, RFC 6052 §2.2", "64:ff9b:1:a9fe:a9:fe00::", never},
		{"NAT64 local-use metadata, last bits", "64:ff9b:1::a9fe:a9fe", never},
		{"6to4 loopback", "2002:7f00:1::", private},
		{"6to4 metadata", "2002:a9fe:a9fe::1", never},
		{"Teredo, metadata as client", "2001:0:4136:e378:8000:63bf:5601:5601", never},
		{"Teredo, metadata as server", "2001:0:a9fe:a9fe::1", never},
		{"ISATAP loopback", "2600::5efe:7f00:1", private},
		{"ISATAP metadata", "2600::200:5efe:a9fe:a9fe", never},

		{"public", "8.8.8.8", free},
		{"below RFC 1918", "172.15.255.255", free},
		{"above RFC 1918", "172.32.0.0", free},
		{"above shared address space", "100.128.0.0", free},
		{"public IPv6", "2606:4700:4700::1111", free},
		{"mapped public", "::ffff:8.8.8.8", free},
		{"NAT64 of a public address", "64:ff9b::8.8.8.8", free},
	} {
		t.Run(tt.name, func(t *testing.T) {
			addr := netip.AddrPortFrom(netip.MustParseAddr(tt.ip), 8080)
			own, client := transport.Check(false, addr) == nil, transport.Check(true, addr) == nil
			if own != (tt.want == free) || client != (tt.want != never) {
				t.Errorf("own fetch allowed %v, client's request allowed %v, want %s", own, client, tt.want)
			}
		})
	}
}

func TestOurListenersAreNeverDialled(t *testing.T) {
	for _, tt := range []struct {
		name, listener, addr string
		refused              bool
	}{
		{"the same address", "127.0.0.1:7887", "127.0.0.1:7887", true},
		{"mapped into IPv6", "127.0.0.1:7887", "[::ffff:127.0.0.1]:7887", true},
		{"unspecified reaches loopback", "127.0.0.1:7887", "0.0.0.0:7887", true},
		{"unspecified IPv6 reaches loopback", "127.0.0.1:7887", "[::]:7887", true},
		{"another port", "127.0.0.1:7887", "127.0.0.1:7889", false},
		{"another loopback address", "127.0.0.1:7887", "127.0.0.2:7887", false},
		{"listener on all, loopback dialled", "0.0.0.0:7887", "127.0.0.1:7887", true},
		{"listener on all IPv6, loopback dialled", "[::]:7887", "127.0.0.1:7887", true},
		{"listener on all, an interface's address dialled", "0.0.0.0:7887", "192.0.2.77:7887", true},
		{"listener on all, another machine", "0.0.0.0:7887", "8.8.8.8:7887", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := transport.Check(true, netip.MustParseAddrPort(tt.addr), netip.MustParseAddrPort(tt.listener))
			if (err != nil) != tt.refused {
				t.Errorf("error %v, want refused %v", err, tt.refused)
			}
			if err != nil && fetch.Explain(nil, err).Type != "proxy_loop_detected" {
				t.Errorf("type = %s, want proxy_loop_detected", fetch.Explain(nil, err).Type)
			}
		})
	}
}
