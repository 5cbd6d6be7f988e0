package judge

// sumOf is [forest.sum] for one block.
func (t forest) sumOf(f *[featureCount]float32) float32 {
	return t.sum(&[together][featureCount]float32{*f})[0]
}
