package settings

import (
	"cmp"
	"os"
)

// AskedService returns the crawl service that the configuration or the environment names; empty: neither does. The
// environment variables of other tools apply to keys that are not set (rule D9).
func (s *Settings) AskedService() string {
	if s.Source["crawl.service"] == "default" {
		return os.Getenv("CRAWL_SERVICE")
	}
	return s.Crawl.Service
}

// CrawlService returns the name of a crawl service, or of the one that is used for those who name none.
func (s *Settings) CrawlService(name string) string {
	return cmp.Or(name, s.AskedService(), s.Crawl.Service, "local")
}
