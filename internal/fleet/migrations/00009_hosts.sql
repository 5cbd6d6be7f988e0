-- +goose Up
-- What nodes learnt about hosts that is true for everybody, or no longer is. at is when that was.
CREATE TABLE hosts (
    host  text NOT NULL CHECK (length(host) <= 255),
    trait text NOT NULL,
    xid   xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at    timestamptz NOT NULL,
    until timestamptz NOT NULL,
    times int NOT NULL,
    gone  bool NOT NULL,
    PRIMARY KEY (host, trait)
);
CREATE INDEX hosts_by_change ON hosts (xid, host, trait);

-- +goose Down
DROP TABLE hosts;
