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
)

// markdownType is the media type of every resource: passages and stored pages are markdown.
const markdownType = "text/markdown"

// addResources offers stored pages and passages as resources, and lists the pages read last. The list is answered by a
// middleware, because the SDK lists only what was registered one by one, and the pages change with every read.
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

// resourcesListed is how many pages one answer to resources/list holds; its cursor leads to more.
const resourcesListed = 50

// listResources answers resources/list with the pages read last, newest first. What it lists is private to the reader.
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

// readResource answers resources/read: a page of page://, or a passage of kb://. It cuts a page that exceeds the most
// tokens of a result, with a note; resources have no parameter to continue with.
func (s *Server) readResource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	b, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	var w api.Piece
	if doc, ok := strings.CutPrefix(uri, "page://"); ok {
		p, err := b.PagePart(ctx, api.StoredQuery{Doc: strings.Trim(doc, "/"), MaxTokens: mostTokens})
		if err != nil {
			return nil, noResource(uri, err)
		}
		w = api.Piece{Text: p.Content, Next: p.Next, Total: p.Total}
	} else {
		name, id, _ := strings.Cut(strings.TrimPrefix(uri, "kb://"), "/")
		p, err := b.Passage(ctx, id)
		if err != nil {
			return nil, noResource(uri, err)
		}
		// Under the name of a base that does not have the passage there is no such resource.
		if !ofBase(p.Sources, name) {
			return nil, sdk.ResourceNotFoundError(uri)
		}
		w = s.cut(p.Text, mostTokens)
	}
	if w.Next > 0 {
		w.Text += fmt.Sprintf("\n\n[Cut: %d of %d characters.]", w.Next, w.Total)
	}
	return &sdk.ReadResourceResult{
		Contents:  []*sdk.ResourceContents{{URI: uri, MIMEType: markdownType, Text: w.Text}},
		Cacheable: sdk.Cacheable{CacheScope: "private"},
	}, nil
}

// ofBase reports whether the passage of a resource is in a document of a knowledge base. Pages that were read have the
// name "-", since they belong to no base.
func ofBase(sources []knowledge.PassageSource, name string) bool {
	return name == "-" || slices.ContainsFunc(sources,
		func(s knowledge.PassageSource) bool { return slices.Contains(s.Bases, name) })
}

// noResource returns the error of the protocol for a resource that does not exist, and any other error as it is.
// Clients tell these apart: the first one is no reason to try again.
func noResource(uri string, err error) error {
	if code := api.CodeOf(err); code == api.CodeNotFound || code == api.CodeInvalid {
		return sdk.ResourceNotFoundError(uri)
	}
	return err
}

// invalidParams is the error of the protocol for invalid parameters, such as a cursor of resources/list that is not
// ours.
func invalidParams(what string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: what}
}
