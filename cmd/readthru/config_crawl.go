package main

import (
	"cmp"
	"os"
)

// askedService returns the crawl service that the configuration or the environment names; empty: neither does. The
// environment variables of other tools apply to keys that are not set (rule D9).
func (s *settings) askedService() string {
	if s.source["crawl.service"] == "default" {
		return os.Getenv("CRAWL_SERVICE")
	}
	return s.Crawl.Service
}

// crawlService returns the name of a crawl service, or of the one that is used for those who name none.
func (s *settings) crawlService(name string) string {
	return cmp.Or(name, s.askedService(), s.Crawl.Service, "local")
}
