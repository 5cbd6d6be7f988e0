-- +goose Up
-- Stored responses of any node, the newest of a URI and what selects it. form is the form of record.
CREATE TABLE responses (
    uri           bytea NOT NULL CHECK (length(uri) = 32),
    slot          bytea NOT NULL CHECK (length(slot) = 32),
    url           text NOT NULL,
    host          text NOT NULL,
    tags          text[] NOT NULL,
    node          text NOT NULL,
    response_time timestamptz NOT NULL,
    fresh_until   timestamptz NOT NULL,
    retain_until  timestamptz NOT NULL,
    form          int NOT NULL,
    record        bytea NOT NULL,
    body          bytea NOT NULL,
    body_hash     bytea NOT NULL,
    body_length   int NOT NULL,
    PRIMARY KEY (uri, slot)
);
ALTER TABLE responses ALTER COLUMN body SET STORAGE EXTERNAL; -- it is compressed already
CREATE INDEX responses_by_host ON responses (host);
CREATE INDEX responses_by_tag ON responses USING gin (tags);
CREATE INDEX responses_by_retention ON responses (retain_until);

-- What was purged on any node: stored responses that were received until then must not come back. id is the hash of
-- kind and value.
CREATE TABLE purges (
    id    bytea PRIMARY KEY CHECK (length(id) = 32),
    kind  text NOT NULL,
    value text NOT NULL,
    at    timestamptz NOT NULL,
    xid   xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX purges_by_change ON purges (xid, id);
CREATE INDEX purges_of_many ON purges (kind) WHERE kind IN ('prefix', 'all');

-- purge_id must return what Purge.ID does.
-- +goose StatementBegin
CREATE FUNCTION purge_id(kind text, value text) RETURNS bytea IMMUTABLE PARALLEL SAFE LANGUAGE sql
    RETURN sha256(convert_to(kind, 'UTF8') || '\x00'::bytea || convert_to(value, 'UTF8'));
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION purged(url text, host text, tags text[], response_time timestamptz) RETURNS bool STABLE LANGUAGE sql
    RETURN EXISTS (SELECT FROM purges p WHERE p.at >= response_time AND p.id = ANY (
            ARRAY[purge_id('url', url), purge_id('host', host), purge_id('all', '')]
            || ARRAY(SELECT purge_id('tag', tag) FROM unnest(tags) AS t (tag))))
        OR EXISTS (SELECT FROM purges p WHERE p.at >= response_time AND p.kind = 'prefix' AND starts_with(url, p.value));
-- +goose StatementEnd

-- Which node asks an origin just now, and whether others should not wait for it.
CREATE TABLE flights (
    uri   bytea PRIMARY KEY CHECK (length(uri) = 32),
    node  text NOT NULL,
    until timestamptz NOT NULL,
    alone bool NOT NULL DEFAULT false
);

-- +goose Down
DROP TABLE flights;
DROP FUNCTION purged;
DROP FUNCTION purge_id;
DROP TABLE purges;
DROP TABLE responses;
