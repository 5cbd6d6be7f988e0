-- +goose Up
-- What a browser, markdown.new or a model made of a page, by the hash of the page's key and what it was made of and how.
-- made_at is when its node began. record is JSON.
CREATE TABLE renditions (
    id          bytea PRIMARY KEY CHECK (length(id) = 32),
    page        bytea NOT NULL CHECK (length(page) = 32),
    url         text NOT NULL,
    host        text NOT NULL,
    node        text NOT NULL,
    made_at     timestamptz NOT NULL,
    expires     timestamptz NOT NULL,
    record      bytea NOT NULL,
    body        bytea,
    body_hash   bytea NOT NULL,
    body_length int NOT NULL
);
ALTER TABLE renditions ALTER COLUMN body SET STORAGE EXTERNAL; -- it is compressed already
CREATE INDEX renditions_by_expiry ON renditions (expires);

-- +goose Down
DROP TABLE renditions;
