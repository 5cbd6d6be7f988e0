package main

import (
	"context"
	"debug/buildinfo"
	"io"

	"github.com/CycloneDX/cyclonedx-go"
)

// bill writes the bill of materials of the program for Linux in CycloneDX's form: the modules that the linker took, as
// the program itself records them.
func (r *release) bill(ctx context.Context, name string) error {
	program, err := r.build(ctx, targets[0])
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	self := cyclonedx.Component{
		BOMRef: "readthru", Type: cyclonedx.ComponentTypeApplication, Name: "readthru", Version: r.version,
		Description: summary,
	}
	parts := []cyclonedx.Component{module("std", "v"+info.GoVersion[len("go"):])}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, module(m.Path, m.Version))
	}
	b := cyclonedx.NewBOM()
	b.Metadata = &cyclonedx.Metadata{Timestamp: r.time.Format("2006-01-02T15:04:05Z"), Component: &self}
	b.Components = &parts
	return written(name, func(w io.Writer) error {
		return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(b)
	})
}

// module returns a Go module as a component of the bill of materials (CycloneDX), by its package URL.
func module(path, version string) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cyclonedx.Component{
		BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url,
	}
}
