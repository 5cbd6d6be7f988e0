<?php
/* function notHere() {} */
interface Shape { public function area(int $scale): int; }
final class Table extends Base {
    const LIMIT = 10;
    public static function open(string $path): self {
        return new self($path);
    }
}
function helper() { return Table::open('function no() {}'); }
