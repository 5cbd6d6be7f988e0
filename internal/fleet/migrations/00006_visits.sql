-- +goose Up
-- Deliveries of pages to readers, of any node. A record counts several that were equal within a moment.
CREATE TABLE visits (
    id          uuid PRIMARY KEY,
    node        text NOT NULL,
    at          timestamptz NOT NULL,
    doc         text NOT NULL,
    url         text NOT NULL,
    agent       text NOT NULL,
    session     text NOT NULL,
    reader      text NOT NULL, -- the user
    source      text NOT NULL,
    from_cache  bool NOT NULL,
    tokens      int NOT NULL,
    html_tokens int NOT NULL,
    times       bigint NOT NULL
);
CREATE INDEX visits_by_time ON visits (at, id);
CREATE INDEX visits_by_doc ON visits (doc, at);
CREATE INDEX visits_by_reader ON visits (reader, at) WHERE reader <> '';

-- +goose Down
DROP TABLE visits;
