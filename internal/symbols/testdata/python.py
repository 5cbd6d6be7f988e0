"""def not_a_definition(): in a string"""
import os
from typing import Any

LIMIT = 10
lower = 3


class Table(Base, metaclass=Meta):
    """A table."""

    KIND = "table"

    def __init__(self, rows: list[Any], *,
                 name: str = "x",  # its name
                 ) -> None:
        def helper():
            pass
        self.rows = rows

    @property
    def first(self):
        return self.rows[0]

    class Row:
        async def read(self): ...


async def load(path):
    return Table(await read_all(path))


def größe(x): return len(x)
