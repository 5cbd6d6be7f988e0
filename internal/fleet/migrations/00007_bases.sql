-- +goose Up
-- Knowledge bases of any node that are filled from the web. record is JSON. A base is filled again and again: filling is
-- the number of the filling that is under way, and filled that of the one that answers; 0 is none.
CREATE TABLE bases (
    name          text PRIMARY KEY CHECK (length(name) <= 100),
    id            text NOT NULL,
    xid           xid8 NOT NULL DEFAULT pg_current_xact_id(),
    record        text NOT NULL,
    gone_at       timestamptz,
    last          bigint NOT NULL DEFAULT 0,
    filling       bigint NOT NULL DEFAULT 0,
    rounds        int NOT NULL DEFAULT 0,
    paused        bool NOT NULL DEFAULT false,
    filled        bigint NOT NULL DEFAULT 0,
    filled_rounds int NOT NULL DEFAULT 0,
    filled_at     timestamptz
);
CREATE INDEX bases_by_change ON bases (xid, id);
CREATE UNIQUE INDEX bases_by_id ON bases (id);

-- What a filling has, in the order in which it came: members, and what the crawler needs to go on. content is JSON.
CREATE TABLE rounds (
    base    text NOT NULL,
    filling bigint NOT NULL,
    n       int NOT NULL,
    content text NOT NULL,
    PRIMARY KEY (base, filling, n)
);

-- Which node does what one node at a time may do, and until when others leave it to that node. epoch is another one each
-- time the lease is taken.
CREATE TABLE leases (
    what  text PRIMARY KEY,
    node  text NOT NULL,
    epoch bigint NOT NULL,
    until timestamptz NOT NULL
);

-- +goose Down
DROP TABLE leases;
DROP TABLE rounds;
DROP TABLE bases;
