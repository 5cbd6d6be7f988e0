package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

const markdownType = "text/markdown"

// addResources offers pages and passages as resources, and lists the pages read last.
func (s *Server) addResources(to *sdk.Server) {
	to.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: "page://{doc}", Name: "page", Title: "A page that was read", MIMEType: markdownType,
		Description: "A stored page by its document id",
	}, s.readResource)
	to.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: "kb://{name}/{passage}", Name: "passage", Title: "A passage", MIMEType: markdownType,
		Description: "A passage of a knowledge base, by their names in search results",
	}, s.readResource)
	to.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if list, ok := req.(*sdk.ListResourcesRequest); ok && method == "resources/list" {
				return s.listResources(ctx, list)
			}
			return next(ctx, method, req)
		}
	})
}

// resourcesListed is how many pages a list of resources holds.
const resourcesListed = 50

func (s *Server) listResources(ctx context.Context, req *sdk.ListResourcesRequest) (sdk.Result, error) {
	q := api.PageQuery{Limit: resourcesListed}
	if req.Params != nil {
		q.Cursor = req.Params.Cursor
	}
	b, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	pages, err := b.Pages(ctx, q)
	if err != nil {
		return nil, invalidParams(err.Error())
	}
	res := &sdk.ListResourcesResult{
		Resources: []*sdk.Resource{}, NextCursor: pages.Next,
		Cacheable: sdk.Cacheable{CacheScope: "private"},
	}
	for _, p := range pages.Pages {
		res.Resources = append(res.Resources, &sdk.Resource{
			URI: "page://" + p.Doc, Name: clip.Line(p.URL, 300), Title: clip.Line(p.Title, 300),
			Description: clip.Line(p.Description, 300), MIMEType: markdownType, Size: int64(p.SizeBytes),
		})
	}
	return res, nil
}

// readResource returns a page or a passage. It cuts a page that exceeds the most tokens of a result, with a note.
func (s *Server) readResource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	b, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	var content string
	if doc, ok := strings.CutPrefix(uri, "page://"); ok {
		p, err := b.Page(ctx, strings.Trim(doc, "/"))
		if err != nil {
			return nil, noResource(uri, err)
		}
		_, body := page.SplitFrontMatter([]byte(p.Content))
		content = string(body)
	} else {
		name, id, _ := strings.Cut(strings.TrimPrefix(uri, "kb://"), "/")
		p, err := b.Passage(ctx, id)
		if err != nil {
			return nil, noResource(uri, err)
		}
		if !ofBase(p.Sources, name) {
			return nil, sdk.ResourceNotFoundError(uri)
		}
		content = p.Text
	}
	w := s.cut(content, 0, 0, mostTokens)
	if w.next > 0 {
		w.text += fmt.Sprintf("\n\n[Cut: %d of %d characters.]", w.next, w.total)
	}
	return &sdk.ReadResourceResult{
		Contents:  []*sdk.ResourceContents{{URI: uri, MIMEType: markdownType, Text: w.text}},
		Cacheable: sdk.Cacheable{CacheScope: "private"},
	}, nil
}

// ofBase reports whether a passage is in a document of a knowledge base. Pages that were read have the name "-".
func ofBase(sources []knowledge.PassageSource, name string) bool {
	return name == "-" || slices.ContainsFunc(sources,
		func(s knowledge.PassageSource) bool { return slices.Contains(s.Bases, name) })
}

// noResource returns the error for a resource that does not exist or could not be read.
func noResource(uri string, err error) error {
	if code := api.CodeOf(err); code == api.CodeNotFound || code == api.CodeInvalid {
		return sdk.ResourceNotFoundError(uri)
	}
	return err
}

// invalidParams is the error of the protocol for invalid parameters.
func invalidParams(what string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: what}
}
