package transport

import (
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// metadataServices are the services at which cloud providers hand credentials to their machines. No request reaches
// them, whoever asks and whatever the configuration allows. Each entry names the provider, and who states the address.
var metadataServices = []struct {
	prefix string
	names  []string // by which the service is asked; none of them is a public site
}{
	// All of IPv4 link-local: AWS EC2, Google, Azure, DigitalOcean, Hetzner, Huawei, IBM, OpenStack, Oracle, OVH, Vultr,
	// Yandex and others at .169.254, AWS ECS at .170.2, AWS EKS at .170.23, Tencent at .0.23, Scaleway at .42.42,
	// Rancher at .169.250. docs.aws.amazon.com/AmazonECS/latest/developerguide/task-iam-roles.html,
	// docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html, docs.cloud-init.io, datasources
	{"169.254.0.0/16", []string{
		"instance-data", "instance-data.ec2.internal", "metadata", "metadata.google.internal", "metadata.goog",
		"metadata.tencentyun.com", "metadata.azure.internal", "api.metadata.cloud.ibm.com", "rancher-metadata",
	}},
	// Azure's WireServer. learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
	{"168.63.129.16/32", nil},
	// Alibaba. alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata
	{"100.100.100.200/32", nil},
	{"fd00:100::100:200/128", nil},
	// Oracle Cloud Classic. docs.oracle.com/en/cloud/iaas-classic/compute-iaas-cloud/stcsg
	{"192.0.0.192/32", nil},
	// Oracle over IPv6. github.com/oracle/oci-python-sdk, instance_principals_security_token_signer.py
	{"fd00:c1::a9fe:a9fe/128", nil},
	// Volcano Engine. github.com/volcengine/cello, package credential
	{"100.96.0.96/32", nil},
	// UCloud. docs.ucloud.cn/uhost/guide/metadata/metadata-server
	{"100.80.80.80/32", nil},
	// Equinix Metal, before that Packet. deploy.equinix.com/developers/docs/metal/server-metadata/metadata
	{"192.80.8.124/32", []string{"metadata.platformequinix.com", "metadata.packet.net"}},
	// AWS over IPv6: EC2 at ::254, EKS at ::23, and its name and time servers.
	// docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
	{"fd00:ec2::/32", nil},
	// Google over IPv6. cloud.google.com/compute/docs/metadata/querying-metadata
	{"fd20:ce::254/128", nil},
	// Scaleway over IPv6. docs.cloud-init.io, datasource Scaleway
	{"fd00:42::42/128", nil},
	// Akamai (Linode) over IPv6. docs.cloud-init.io, datasource Akamai
	{"fd00:a9fe:a9fe::1/128", nil},
	// OpenStack and Akamai over link-local IPv6. docs.openstack.org/neutron/latest/admin/config-metadata.html
	{"fe80::a9fe:a9fe/128", nil},
}

// metadataPrefixes are the addresses of metadataServices.
var metadataPrefixes = func() (list []netip.Prefix) {
	for _, s := range metadataServices {
		list = append(list, netip.MustParsePrefix(s.prefix))
	}
	return list
}()

// isMetadata reports whether a metadata service has this address. An IPv6 address that embeds an IPv4 one is not
// looked into.
func isMetadata(ip netip.Addr) bool {
	return slices.ContainsFunc(metadataPrefixes, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// namesMetadata reports whether a metadata service is asked by this host name. The address is what counts, but behind
// an upstream proxy only that proxy may know it.
func namesMetadata(host string) bool {
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii // as net/http dials it
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, s := range metadataServices {
		if slices.Contains(s.names, host) {
			return true
		}
	}
	return false
}
