-- +goose Up
-- What is one fleet: nodes notice when they are led to another database, or to an older copy of this one.
CREATE TABLE fleet (
    one bool PRIMARY KEY DEFAULT true CHECK (one),
    id  uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO fleet DEFAULT VALUES;

-- A page as it was last read by any node, or the time from which on it is gone. A row is written again when the content
-- changes: xid is the transaction that did it, by which nodes find what is new to them.
CREATE TABLE pages (
    key          bytea PRIMARY KEY CHECK (length(key) = 32),
    xid          xid8 NOT NULL DEFAULT pg_current_xact_id(),
    node         text NOT NULL,
    fetched_at   timestamptz NOT NULL,
    gone_at      timestamptz,
    content_hash text NOT NULL DEFAULT '',
    record       text,
    edition      int NOT NULL DEFAULT 0,
    body         bytea,
    body_hash    bytea,
    body_length  int NOT NULL DEFAULT 0
);
ALTER TABLE pages ALTER COLUMN body SET STORAGE EXTERNAL; -- it is compressed already
CREATE INDEX pages_by_change ON pages (xid, key);
CREATE INDEX pages_gone ON pages (gone_at) WHERE gone_at IS NOT NULL;

CREATE TABLE nodes (
    name       text PRIMARY KEY,
    version    text NOT NULL,
    started_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL,
    pages      bigint NOT NULL,
    outbox     bigint NOT NULL,
    behind     bigint NOT NULL
);

-- +goose Down
DROP TABLE nodes;
DROP TABLE pages;
DROP TABLE fleet;
