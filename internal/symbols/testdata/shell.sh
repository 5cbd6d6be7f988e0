#!/bin/sh
# in_a_comment() {
flood() { echo "in_a_string() {"; }

function drain {
	local n=$#
	flood "$n"
}

function refill() {
	flood && drain
}

pond::deep () {
	refill
}
